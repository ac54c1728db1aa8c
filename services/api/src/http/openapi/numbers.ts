import {
  AgentReason,
  CallState,
  CommandNumber,
  CommandResultNumber,
  DeviceStatus,
  Direction,
  EndedBy,
  EndReason,
  LegRole,
  numberedSchema,
  OutcomeNumber,
  ParkedReasonNumber,
  PartyType,
  TransferRole,
  TransferStatus,
} from '@switchhook/contracts'
import { component, type Schema } from '../schema.ts'

/** The tables of the numbers in answers and deliveries. Generators make constants of each. */
const TABLES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  AgentReasonNumber: AgentReason,
  CallStateNumber: CallState,
  CommandNumber,
  CommandResultNumber,
  DeviceStatusNumber: DeviceStatus,
  DirectionNumber: Direction,
  EndedByNumber: EndedBy,
  EndReasonNumber: EndReason,
  LegRoleNumber: LegRole,
  OutcomeNumber,
  ParkedReasonNumber,
  PartyTypeNumber: PartyType,
  TransferRoleNumber: TransferRole,
  TransferStatusNumber: TransferStatus,
}

const constantCase = (name: string): string => name.replaceAll(/(?<=[a-z])(?=[A-Z])|-/g, '_').toUpperCase()

/** The component with the constants of each table. Fields do not refer to it, because their numbers stay open. */
export const NUMBER_SCHEMAS: readonly Schema[] = Object.entries(TABLES).map(([name, table]) =>
  component(name, {
    ...numberedSchema(table, 'Known numbers:'),
    // Unique in the whole document, and a constant in every language: in Go, all constants of a client are in one package.
    'x-enum-varnames': Object.keys(table).map((one) => constantCase(`${name.replace(/Number$/, '')}_${one}`)),
  }),
)

const keyOf = ({ enum: values, 'x-enum-varnames': names }: Schema): string => JSON.stringify([values, names])

const NAMES = new Map(Object.entries(TABLES).map(([name, table]) => [keyOf(numberedSchema(table, '')), name]))

/** The name of the component with the constants of a numbered field; undefined for other fields. */
export const constantsOf = (schema: Schema): string | undefined => NAMES.get(keyOf(schema))
