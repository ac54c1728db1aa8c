import { LANGUAGES, listingOf, receiverListing, VERSIONS } from './languages.ts'
import { listings, page } from './page.ts'

test('every listing of docs/clients.md is run for one language', () => {
  const run = LANGUAGES.flatMap((language) => [
    listingOf(language),
    ...(language.receiver === undefined ? [] : [receiverListing(language.receiver)]),
  ])
  expect(new Set(run).size).toBe(run.length)
  expect(new Set(run)).toEqual(new Set(listings))
  // Each other block is part of a listing.
  expect(page.match(/^```\w+$/gm)?.length).toBe(listings.flatMap(({ file }) => (file ? [1, 2] : [1])).length)
})

test('docs/clients.md names the version of openapi-generator that is tried', () => {
  const named = [...page.matchAll(/openapi-generator (\d+\.\d+\.\d+)/g)].map(([, version]) => version)
  expect(new Set(named)).toEqual(new Set([VERSIONS.openapiGenerator]))
})
