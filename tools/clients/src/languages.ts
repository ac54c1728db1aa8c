import { type Listing, listingWith } from './page.ts'

export const VERSIONS = { openapiGenerator: '7.25.0', schemathesis: '4.32.5' } as const

/** One generator. Its steps are scripts of bash, which run in a folder of its own after its commands on docs/clients.md. */
export interface Language {
  readonly name: string
  /** The programs without which it is skipped. */
  readonly needs: readonly string[]
  /** A text of its commands on docs/clients.md. */
  readonly generates: string
  /** The file of its receiver on docs/clients.md. */
  readonly receiver?: string
  /** Checks the client, and compiles the program. Variables: PROGRAMS; COMMANDS, those of docs/clients.md. */
  readonly compile: string
  /** The programs without which the client is only generated. */
  readonly compileNeeds?: readonly string[]
  /** Runs the program. Absent: the client is compiled at most. */
  readonly run?: string
}

const JAVA = 'client/target/classes:client/target/dependency/*'
const TSC = 'npx tsc --strict --target es2022 --skipLibCheck'

export const LANGUAGES: readonly Language[] = [
  {
    name: 'Java, openapi-generator java',
    needs: ['java', 'javac', 'mvn'],
    generates: '-g java ',
    receiver: 'Receiver.java',
    compile: `javac -cp "${JAVA}" -d . "$PROGRAMS/java/Program.java"`,
    run: `java -cp ".:${JAVA}" Program`,
  },
  {
    name: 'Go, openapi-generator go',
    needs: ['java', 'mvn', 'go'],
    generates: '-g go ',
    receiver: 'client/receiver/main.go',
    compile:
      'mkdir client/program && cp "$PROGRAMS/go/main.go" client/program/ && cd client && go vet ./... && go build -o program/program ./program',
    run: 'client/program/program',
  },
  {
    name: 'Python, openapi-generator python',
    needs: ['java', 'mvn', 'python3'],
    generates: '-g python ',
    receiver: 'receiver.py',
    compile: 'python -W error -m compileall -q client/openapi_client',
    run: 'python "$PROGRAMS/python/program.py"',
  },
  {
    name: 'TypeScript, openapi-generator typescript-fetch',
    needs: ['java', 'mvn', 'npm'],
    generates: '-g typescript-fetch ',
    receiver: 'client/receiver.ts',
    compile: `cp "$PROGRAMS/typescript-fetch/program.ts" client/
      ${TSC} --module nodenext --outDir out client/program.ts
      ${TSC} --module esnext --moduleResolution bundler --noEmit client/program.ts
      ${TSC} --module commonjs --moduleResolution node10 --noEmit client/program.ts`,
    run: 'node out/program.js',
  },
  {
    name: 'Rust, openapi-generator rust',
    needs: ['java', 'mvn', 'cargo'],
    generates: '-g rust ',
    receiver: 'client/examples/receiver.rs',
    compile: 'cp "$PROGRAMS/rust/main.rs" client/examples/program.rs && cd client && cargo build -q --example program',
    run: '"$CARGO_TARGET_DIR/debug/examples/program"',
  },
  {
    name: 'Python, openapi-python-client',
    needs: ['python3'],
    generates: 'openapi-python-client generate ',
    compile: 'python -W error -m compileall -q client/switchhook_client',
    run: 'python "$PROGRAMS/openapi-python-client/program.py"',
  },
  {
    name: 'Go, oapi-codegen',
    needs: ['go'],
    generates: 'cmd/oapi-codegen@',
    // The page names skip-prune for constants.
    compile: `bash -c "$(grep oapi-codegen@ <<< "$COMMANDS" | sed 's/types,client/&,skip-prune/')"
      mkdir program && cp "$PROGRAMS/oapi-codegen/main.go" program/ && go vet ./... && go build -o program/program ./program`,
    run: 'program/program',
  },
  {
    name: 'TypeScript, openapi-typescript and openapi-fetch',
    needs: ['npm'],
    generates: 'npx openapi-typescript ',
    compile: `cp "$PROGRAMS/openapi-fetch/program.ts" . && ${TSC} --module nodenext --outDir out program.ts`,
    run: 'node out/program.js',
  },
  {
    name: 'C#, openapi-generator csharp',
    needs: ['java', 'mvn'],
    generates: '-g csharp ',
    compile: 'cd client && dotnet build --nologo -v quiet',
    compileNeeds: ['dotnet'],
  },
]

/** @throws Error if docs/clients.md has no listing for it, or several */
export const listingOf = ({ name, generates }: Language): Listing =>
  listingWith(({ commands }) => commands.includes(generates), name)

/** @throws Error if docs/clients.md has no listing for it, or several */
export const receiverListing = (receiver: string): Listing => listingWith(({ file }) => file === receiver, receiver)
