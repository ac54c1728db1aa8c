/** A log for tests that do not look at it. */
export const silentLog = { debug() {}, info() {}, warn() {}, error() {} }
