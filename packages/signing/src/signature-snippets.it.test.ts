import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VECTORS_FILE, vectors } from './testing/vectors.ts'

/** How a snippet of the guide becomes a program that prints its verdict on each vector as a list in JSON. */
interface Language {
  /** The info string of its code block. */
  readonly block: string
  /** Prints a version; fails if the language is not installed. */
  readonly probe: readonly [string, string]
  readonly command: readonly [string, ...string[]]
  readonly files: (snippet: string) => Readonly<Record<string, string>>
}

const JUDGE_JS = `
import { readFileSync } from 'node:fs'
const { nowSeconds, vectors } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
Date.now = () => nowSeconds * 1000
console.log(JSON.stringify(vectors.map(({ secret, headers, body }) => isSigned(secret, headers, Buffer.from(body)))))
`

const JUDGE_PYTHON = `
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)
time.time = lambda: document["nowSeconds"]
print(json.dumps([is_signed(v["secret"], v["headers"], v["body"].encode()) for v in document["vectors"]]))
`

const JUDGE_GO = `package main

import (
	"encoding/json"
	"net/http"
	"os"
	"time"
)

func main() {
	var document struct {
		NowSeconds int64
		Vectors    []struct {
			Secret, Body string
			Headers      map[string]string
		}
	}
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = json.Unmarshal(text, &document)
	}
	if err != nil {
		panic(err)
	}
	verdicts := []bool{}
	for _, vector := range document.Vectors {
		header := http.Header{}
		for name, value := range vector.Headers {
			header.Set(name, value)
		}
		now := time.Unix(document.NowSeconds, 0)
		verdicts = append(verdicts, isSigned(vector.Secret, header, []byte(vector.Body), now))
	}
	json.NewEncoder(os.Stdout).Encode(verdicts)
}
`

const LANGUAGES: readonly Language[] = [
  {
    block: 'js',
    probe: [process.execPath, '--version'],
    command: [process.execPath, 'receiver.mjs'],
    files: (snippet) => ({ 'receiver.mjs': snippet + JUDGE_JS }),
  },
  {
    block: 'python',
    probe: ['python3', '--version'],
    command: ['python3', 'receiver.py'],
    files: (snippet) => ({ 'receiver.py': snippet + JUDGE_PYTHON }),
  },
  {
    block: 'go',
    probe: ['go', 'version'],
    command: ['go', 'run', 'receiver.go', 'judge.go'],
    files: (snippet) => ({ 'receiver.go': `package main\n\n${snippet}`, 'judge.go': JUDGE_GO }),
  },
]

const folders = mkdtempSync(join(tmpdir(), 'signature-snippets-'))
afterAll(() => rmSync(folders, { recursive: true }))

const guide = readFileSync(`${import.meta.dirname}/../../../docs/signatures.md`, 'utf8')

for (const { block, probe, command, files } of LANGUAGES) {
  const [program, ...options] = probe
  const isInstalled = spawnSync(program, options).status === 0
  const name = `the ${block} snippet of the guide judges every vector as it should`

  ;(isInstalled ? test : test.skip)(
    isInstalled ? name : `${name} (${program} is not installed)`,
    () => {
      const [, snippet = ''] = new RegExp(`^Without a library.*?^\`\`\`${block}\n(.*?)^\`\`\`$`, 'ms').exec(guide) ?? []
      const folder = join(folders, block)
      mkdirSync(folder)
      for (const [file, text] of Object.entries(files(snippet))) writeFileSync(join(folder, file), text)
      const [runner, ...args] = command
      const output = execFileSync(runner, [...args, VECTORS_FILE], { cwd: folder, encoding: 'utf8' })
      const verdicts = JSON.parse(output) as readonly boolean[]
      expect(vectors.map(({ name: vector }, at) => [vector, verdicts[at]])).toEqual(
        vectors.map(({ name: vector, valid }) => [vector, valid]),
      )
    },
    // The Go compiler builds its standard library at its first use.
    300_000,
  )
}
