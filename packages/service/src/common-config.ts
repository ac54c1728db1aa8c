import type { Config, commonFields } from '@switchhook/runtime'

/** The variables that every service reads. */
export type CommonConfig = Config<typeof commonFields>
