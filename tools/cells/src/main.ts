import { writeFileSync } from 'node:fs'
import { PAGE, PLOT, renderPages } from './pages.ts'

const { page, plot } = renderPages()
writeFileSync(PAGE, page)
writeFileSync(PLOT, plot)
