import { inOrder, MARK } from './in-order.ts'

function collect() {
  const seen: string[] = []
  const order = inOrder<string>(
    (text) => seen.push(text),
    (message) => seen.push(`<${message}>`),
  )
  return { order, seen: () => seen.join('') }
}

test('messages stand where their marks are, whichever channel is faster', () => {
  const { order, seen } = collect()
  order.message(1, 'first')
  order.text(`a${MARK}1\nb${MARK}2\nc`)
  expect(seen()).toBe('a<first>b')
  order.message(2, 'second')
  expect(seen()).toBe('a<first>b<second>c')
})

test('a mark may arrive in pieces', () => {
  const { order, seen } = collect()
  order.message(12, 'one')
  for (const chunk of ['a', MARK, '1', '2', '\nb']) order.text(chunk)
  expect(seen()).toBe('a<one>b')
})

test('the text behind a message that never arrives is not lost', () => {
  const { order, seen } = collect()
  order.text(`a${MARK}1\nb`)
  order.end()
  expect(seen()).toBe('ab')
})
