import { readFileSync, writeFileSync } from 'node:fs'
import { ALERTS_PAGE, fillAlerts, fillOperations, OPERATIONS_PAGE, readRules } from './alerts-page.ts'
import { CONFIGURATION_PAGE, configurationPage, SERVICES } from './configuration-page.ts'

writeFileSync(CONFIGURATION_PAGE, configurationPage(SERVICES))
writeFileSync(ALERTS_PAGE, fillAlerts(readFileSync(ALERTS_PAGE, 'utf8'), readRules()))
writeFileSync(OPERATIONS_PAGE, fillOperations(readFileSync(OPERATIONS_PAGE, 'utf8'), readRules()))
