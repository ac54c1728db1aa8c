import { Unavailable } from '@switchhook/contracts'

/** The worker stops, so a delivery that waits in it returns to the broker. */
export class Stopping extends Unavailable {
  constructor() {
    super('process', 'this worker is stopping')
  }
}
