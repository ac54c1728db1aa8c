export { type StackFile } from './stack/stack-file.ts'
export { readStackOptions, type StackOptions, WrongSettings } from './stack/stack-options.ts'
export { startStack } from './stack/start-stack.ts'
export { stopStack } from './stack/stop-stack.ts'
