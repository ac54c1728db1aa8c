import { NotAnswered } from '@switchhook/runtime'
import { tellTransfer } from './tell-phone.ts'

/** @param read Asterisk's answer to the question that waits for the phone's requests */
async function told(read: () => Promise<{ status: number; body: unknown }>) {
  const states: unknown[] = []
  const request = async (method: string, _path: string, query: Readonly<Record<string, string>> = {}) => {
    if (method === 'GET') return read()
    states.push(query['states'])
    return { status: 204, body: undefined }
  }
  const error = await tellTransfer({ request }, 'a', 'declined').catch((cause: unknown) => cause)
  return { states, error }
}
const answers = (status: number) => () => Promise.resolve({ status, body: undefined })

// Asterisk crashes if it is told the result while it still handles the request for the transfer.
test.each([200, 404])(
  'a phone is told how its transfer ended once Asterisk has handled its requests, and answers %i',
  async (status) => expect(await told(answers(status))).toEqual({ states: ['channel_declined'], error: undefined }),
)

test('a phone is told nothing after an error of Asterisk, which did not wait for its requests', async () => {
  const error = new Error('Asterisk answered 500 to a question about a phone')
  expect(await told(answers(500))).toEqual({ states: [], error })
})

test('the parties do not wait longer if Asterisk has handled the requests and takes no answer', async () => {
  const request = (method: string) => (method === 'GET' ? answers(200)() : new Promise<never>(() => {}))
  await expect(tellTransfer({ request }, 'a', 'declined')).rejects.toBeInstanceOf(NotAnswered)
})

test('a phone is told nothing if Asterisk does not handle its requests within a second', async () => {
  const { states, error } = await told(() => new Promise(() => {}))
  expect(states).toEqual([])
  expect(error).toBeInstanceOf(NotAnswered)
})
