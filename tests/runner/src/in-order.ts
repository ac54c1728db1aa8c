/** Begins the mark of a message in a text; the number of the message and the end of the line follow. */
export const MARK = '\u001E'
const MARKS = new RegExp(`(${MARK}\\d+\\n)`)
const UNFINISHED = new RegExp(`${MARK}\\d*$`)

/**
 * Brings a text and messages into the order in which they were sent. They arrive on channels of their own, so the sender
 * writes a mark into the text for each message: what its children print is then before or behind it.
 */
export function inOrder<Message>(onText: (text: string) => void, onMessage: (message: Message) => void) {
  const messages = new Map<number, Message>()
  let waiting: (string | number)[] = []
  let unfinished = ''

  function settle(): void {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      if (typeof next === 'string') onText(next)
      else {
        const message = messages.get(next)
        if (message === undefined) return
        messages.delete(next)
        onMessage(message)
      }
      waiting = waiting.slice(1)
    }
  }

  return {
    text: (chunk: string): void => {
      const text = unfinished + chunk
      unfinished = UNFINISHED.exec(text)?.[0] ?? ''
      const pieces = text
        .slice(0, text.length - unfinished.length)
        .split(MARKS)
        .filter(Boolean)
      waiting.push(...pieces.map((piece) => (piece.startsWith(MARK) ? Number(piece.slice(1)) : piece)))
      settle()
    },
    message: (number: number, message: Message): void => {
      messages.set(number, message)
      settle()
    },
    /** The sender has ended: a message that has not arrived yet never will. */
    end: (): void => {
      waiting = waiting.filter((piece) => typeof piece === 'string' || messages.has(piece))
      settle()
    },
  }
}
