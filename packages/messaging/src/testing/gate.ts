/** Holds back whatever awaits `opened` until the test opens it. */
export class Gate {
  readonly opened: Promise<void>
  #open!: () => void

  constructor() {
    this.opened = new Promise((resolve) => {
      this.#open = resolve
    })
  }

  open(): void {
    this.#open()
  }
}
