import type { Page } from '@switchhook/client'
import { useInfiniteQuery } from '@tanstack/react-query'
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { ListQuery } from '../api/queries.ts'
import { Button, NO_VALUE } from './parts.tsx'

export interface Column<Row> {
  readonly title: string
  /** Null is shown as a dash. */
  readonly cell: (row: Row) => ReactNode
  readonly align?: 'end'
  /** Hidden on narrow screens. */
  readonly isOptional?: boolean
  /** Takes the space that the others leave. */
  readonly isWide?: boolean
}

export interface TableProps<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly more?: { readonly isLoading: boolean; readonly load: () => void } | undefined
}

/** Every row has this height, so that the position of a row follows from its number. */
const ROW_PX = 40
/** Rows rendered above and below the visible part. */
const MARGIN_ROWS = 20

/** A table of any length: only rows near the visible part exist in the document. Its end coming near loads more. */
export function Table<Row>({ label, columns, rows, keyOf, more }: TableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [first, last] = useVisibleRows(body, rows.length)
  useEffect(() => {
    if (more !== undefined && !more.isLoading && last >= rows.length && rows.length > MARGIN_ROWS) more.load()
  }, [more, last, rows.length])
  const spacer = (count: number) =>
    count > 0 && (
      <tr aria-hidden="true" style={{ height: count * ROW_PX }}>
        <td colSpan={columns.length} />
      </tr>
    )
  if (rows.length === 0 && more === undefined) return null
  return (
    <div className="table-frame">
      <table aria-label={label} aria-rowcount={more === undefined ? rows.length + 1 : -1}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" className={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {spacer(first)}
          {rows.slice(first, last).map((row, index) => (
            <tr key={keyOf(row)} aria-rowindex={first + index + 2}>
              {columns.map((column) => (
                <td key={column.title} className={classOf(column)}>
                  {column.cell(row) ?? NO_VALUE}
                </td>
              ))}
            </tr>
          ))}
          {spacer(rows.length - last)}
        </tbody>
      </table>
      {more !== undefined && (
        <div className="table-more">
          <Button onClick={more.load} isBusy={more.isLoading}>
            {more.isLoading ? 'Loading…' : 'Load more'}
          </Button>
        </div>
      )}
    </div>
  )
}

const classOf = <Row,>({ align, isOptional, isWide }: Column<Row>): string =>
  [align === 'end' && 'end', isOptional === true && 'optional', isWide === true && 'wide'].filter(Boolean).join(' ')

function useVisibleRows(body: { readonly current: HTMLElement | null }, total: number): readonly [number, number] {
  const [range, setRange] = useState<readonly [number, number]>([0, 3 * MARGIN_ROWS])
  const measure = useCallback(() => {
    const top = body.current?.getBoundingClientRect().top ?? 0
    // Rounded to steps, so that most scroll events change nothing.
    const start = Math.floor(-top / ROW_PX / MARGIN_ROWS) * MARGIN_ROWS - MARGIN_ROWS
    const shown = Math.ceil(window.innerHeight / ROW_PX)
    const next = [start, start + shown + 3 * MARGIN_ROWS] as const
    setRange((now) => (now[0] === next[0] && now[1] === next[1] ? now : next))
  }, [body])
  useLayoutEffect(measure, [measure, total])
  useEffect(() => {
    const leaving = new AbortController()
    const { signal } = leaving
    window.addEventListener('scroll', measure, { passive: true, capture: true, signal })
    window.addEventListener('resize', measure, { signal })
    return () => leaving.abort()
  }, [measure])
  const first = Math.min(Math.max(range[0], 0), Math.max(total - MARGIN_ROWS, 0))
  return [first, Math.max(Math.min(range[1], total), first)]
}

export function useList<P extends Page>(options: ListQuery<P>) {
  const query = useInfiniteQuery(options)
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = query
  const rows: readonly P['items'][number][] = data?.pages.flatMap(({ items }) => items) ?? []
  return {
    query,
    rows,
    /** There are no rows, and no page that could have some. */
    isEmpty: data !== undefined && rows.length === 0 && !hasNextPage,
    more: hasNextPage ? { isLoading: isFetchingNextPage, load: () => void fetchNextPage() } : undefined,
  }
}
