import { readFileSync, writeFileSync } from 'node:fs'
import { ALERTS_PAGE, fillAlerts, readRules } from './alerts-page.ts'
import { CONFIGURATION_PAGE, configurationPage, SERVICES } from './configuration-page.ts'

writeFileSync(CONFIGURATION_PAGE, configurationPage(SERVICES))
writeFileSync(ALERTS_PAGE, fillAlerts(readFileSync(ALERTS_PAGE, 'utf8'), readRules()))
