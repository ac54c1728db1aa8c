import { Time } from './parts.tsx'

const MOMENT = /(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)/

/** A sentence of the API, with its moments in the person's own time. */
export const Sentence = ({ text }: { readonly text: string }) =>
  text.split(MOMENT).map((part, index) => (MOMENT.test(part) ? <Time key={index} at={part} /> : part))
