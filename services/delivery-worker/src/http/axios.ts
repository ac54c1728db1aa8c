import { createRequire } from 'node:module'
import type * as axios from 'axios'

/** The CommonJS build, because it is one file: the other one takes a tenth of a worker's start to load. */
export const { Axios, AxiosHeaders } = createRequire(import.meta.url)('axios') as typeof axios
