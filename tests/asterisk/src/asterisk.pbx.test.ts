import { describePlatform } from '@switchhook/conformance'
import { describeWithAsterisk } from './asterisk-lab.ts'

describeWithAsterisk('with a real Asterisk', (lab) => {
  describePlatform('asterisk, whose phones answer to a NOTIFY', (observer) => lab().open(observer, 'talk'))
  describePlatform('asterisk, whose phones are called again to answer', (observer) => lab().open(observer, 'again'))
  describePlatform('asterisk, whose phones are connected all day', (observer) => lab().open(observer, 'connected'))
})
