/** The versions that `make clients` tries and docs/clients.md names. */
export const VERSIONS = {
  openapiGenerator: '7.25.0',
  openapiPythonClient: '0.29.1',
  oapiCodegen: '2.8.2',
  openapiTypescript: '7.13.0',
  openapiFetch: '0.17.0',
  schemathesis: '4.32.5',
  typescript: '5.9.3',
  tokio: '1.47.1',
  axum: '0.8.6',
} as const

/** The libraries of Standard Webhooks that docs/clients.md names. */
export const STANDARD_WEBHOOKS = {
  java: '1.2.0',
  go: '0.0.1',
  python: '1.1.0',
  typescript: '1.1.1',
  rust: '1.0.1',
} as const

/** One generator. Its steps are scripts of bash, which run in a folder of its own. */
export interface Language {
  readonly name: string
  /** The programs without which it is skipped. */
  readonly needs: readonly string[]
  /** Generates, adds the program and compiles. Variables: DOCUMENT, PROGRAMS, TOOLS. */
  readonly build: string
  /** Absent: the client is compiled at most. */
  readonly run?: string
  /** A text by which its example on docs/clients.md is found. */
  readonly marks?: string
  /** Compiles and runs the example of docs/clients.md. Variable: EXAMPLE, its file. */
  readonly example?: string
  /** Its receiver on docs/clients.md: a text by which it is found, and what compiles and starts it. Variable: EXAMPLE. */
  readonly receiver?: { readonly marks: string; readonly start: string }
}

/** Without tests and pages, which nothing reads. */
const generate = (generator: string): string =>
  `rm -rf client && java -jar "$TOOLS/openapi-generator-cli.jar" generate -i "$DOCUMENT" -g ${generator} -o client --global-property apiTests=false,modelTests=false,apiDocs=false,modelDocs=false > generator.log || { tail -20 generator.log; exit 1; }`

const PYTHON = 'test -x venv/bin/python || python3 -m venv venv'
/** The file of its own keeps npm from the packages of this repository. */
const NPM = (...packages: string[]): string =>
  `test -e node_modules/.done || { echo '{"private":true}' > package.json && npm install --silent --no-audit --no-fund --save-exact ${packages.join(' ')} && touch node_modules/.done; }`
const TSC_NODE =
  'node_modules/.bin/tsc --strict --target es2022 --module commonjs --moduleResolution node10 --skipLibCheck --types node --outDir out'

export const LANGUAGES: readonly Language[] = [
  {
    name: 'Java, openapi-generator java',
    marks: 'org.openapitools.client',
    needs: ['java', 'javac', 'mvn'],
    build: `${generate('java')}
      cd client && mvn -q -B -Dmaven.test.skip -Dmaven.javadoc.skip -Dmaven.source.skip compile dependency:build-classpath -Dmdep.outputFile=classpath
      javac -cp "target/classes:$(cat classpath)" -d target/classes "$PROGRAMS/java/Program.java"`,
    run: 'java -cp "client/target/classes:$(cat client/classpath)" Program',
    example: 'cp "$EXAMPLE" Example.java && java -cp "client/target/classes:$(cat client/classpath)" Example.java',
    receiver: {
      marks: 'com.standardwebhooks',
      start: `mvn -q -B dependency:copy -Dartifact=com.standardwebhooks:standardwebhooks:${STANDARD_WEBHOOKS.java} -DoutputDirectory=libraries
        cp "$EXAMPLE" Receiver.java && exec java -cp "client/target/classes:libraries/*:$(cat client/classpath)" Receiver.java`,
    },
  },
  {
    name: 'Go, openapi-generator go',
    marks: 'switchhook.NewConfiguration',
    needs: ['java', 'mvn', 'go'],
    build: `${generate('go')}
      mkdir client/program && cp "$PROGRAMS/go/main.go" client/program/
      cd client && go get github.com/google/uuid@v1.6.0 && go mod tidy && go vet ./... && go build -o program/program ./program`,
    run: 'client/program/program',
    example: 'mkdir -p client/example && cp "$EXAMPLE" client/example/main.go && cd client && go run ./example',
    receiver: {
      marks: 'standardwebhooks.NewWebhook',
      start: `mkdir -p client/receiver && cp "$EXAMPLE" client/receiver/main.go && cd client
        go get github.com/standard-webhooks/standard-webhooks/libraries@v${STANDARD_WEBHOOKS.go} && go build -o receiver/receiver ./receiver && exec receiver/receiver`,
    },
  },
  {
    name: 'Python, openapi-generator python',
    marks: 'import openapi_client',
    needs: ['java', 'mvn', 'python3'],
    build: `${generate('python')}
      ${PYTHON} && venv/bin/pip install -q ./client && venv/bin/python -W error -m compileall -q client/openapi_client`,
    run: 'venv/bin/python "$PROGRAMS/python/program.py"',
    example: 'venv/bin/python "$EXAMPLE"',
    receiver: {
      marks: 'from standardwebhooks',
      start: `venv/bin/pip install -q standardwebhooks==${STANDARD_WEBHOOKS.python} && exec venv/bin/python "$EXAMPLE"`,
    },
  },
  {
    name: 'TypeScript, openapi-generator typescript-fetch',
    marks: "from './index'",
    needs: ['java', 'mvn', 'npm'],
    build: `${generate('typescript-fetch')}
      cp "$PROGRAMS/typescript-fetch/program.ts" client/
      ${NPM(`typescript@${VERSIONS.typescript}`, '@types/node@24', `standardwebhooks@${STANDARD_WEBHOOKS.typescript}`)}
      ${TSC_NODE} client/program.ts`,
    run: 'node out/program.js',
    example: `cp "$EXAMPLE" client/example.ts && ${TSC_NODE} client/example.ts && node out/example.js`,
    receiver: {
      marks: "from 'standardwebhooks'",
      start: `cp "$EXAMPLE" client/receiver.ts && ${TSC_NODE} client/receiver.ts && exec node out/receiver.js`,
    },
  },
  {
    name: 'Rust, openapi-generator rust',
    marks: 'use openapi::',
    needs: ['java', 'mvn', 'cargo'],
    build: `${generate('rust')}
      mkdir client/examples && cp "$PROGRAMS/rust/main.rs" client/examples/program.rs
      cd client && printf '[dev-dependencies]\\ntokio = { version = "=${VERSIONS.tokio}", features = ["full"] }\\naxum = "=${VERSIONS.axum}"\\nstandardwebhooks = "=${STANDARD_WEBHOOKS.rust}"\\n' >> Cargo.toml
      cp ../Cargo.lock . 2>/dev/null || true
      CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=../target cargo build -q --example program && cp Cargo.lock ..`,
    run: 'target/debug/examples/program',
    example:
      'cp "$EXAMPLE" client/examples/example.rs && cd client && CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=../target cargo run -q --example example',
    receiver: {
      marks: 'use standardwebhooks',
      start:
        'cp "$EXAMPLE" client/examples/receiver.rs && cd client && export CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=../target && cargo build -q --example receiver && exec ../target/debug/examples/receiver',
    },
  },
  {
    name: 'Python, openapi-python-client',
    marks: 'from switchhook_client',
    needs: ['python3'],
    build: `${PYTHON} && venv/bin/pip install -q openapi-python-client==${VERSIONS.openapiPythonClient}
      rm -rf client && PATH="$PWD/venv/bin:$PATH" venv/bin/openapi-python-client generate --path "$DOCUMENT" --output-path client --fail-on-warning
      venv/bin/pip install -q ./client && venv/bin/python -W error -m compileall -q client/switchhook_client`,
    run: 'venv/bin/python "$PROGRAMS/openapi-python-client/program.py"',
    example: 'venv/bin/python "$EXAMPLE"',
  },
  {
    name: 'Go, oapi-codegen',
    marks: 'example.com/program/api',
    needs: ['go'],
    build: `test -x oapi-codegen || GOBIN="$PWD" go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v${VERSIONS.oapiCodegen}
      mkdir -p client/api && ./oapi-codegen -package api -generate types,client "$DOCUMENT" > client/api/api.go
      cp "$PROGRAMS/oapi-codegen/main.go" client/
      cd client && { test -e go.mod || go mod init example.com/program; } && go mod tidy && go vet ./... && go build -o program .`,
    run: 'client/program',
    example: 'mkdir -p client/example && cp "$EXAMPLE" client/example/main.go && cd client && go run ./example',
  },
  {
    name: 'TypeScript, openapi-typescript and openapi-fetch',
    marks: "'openapi-fetch'",
    needs: ['npm'],
    build: `${NPM(`typescript@${VERSIONS.typescript}`, `openapi-typescript@${VERSIONS.openapiTypescript}`, `openapi-fetch@${VERSIONS.openapiFetch}`, '@types/node@24')}
      mkdir -p client && echo '{"type":"module"}' > client/package.json && cp "$PROGRAMS/openapi-fetch/program.ts" client/
      node_modules/.bin/openapi-typescript "$DOCUMENT" -o client/schema.ts
      node_modules/.bin/tsc --strict --target es2022 --module nodenext --skipLibCheck --types node --outDir client client/program.ts`,
    run: 'node client/program.js',
    example:
      'cp "$EXAMPLE" client/example.ts && node_modules/.bin/tsc --strict --target es2022 --module nodenext --skipLibCheck --types node --outDir client client/example.ts && node client/example.js',
  },
  {
    name: 'C#, openapi-generator csharp',
    needs: ['java', 'javac', 'mvn'],
    build: `${generate('csharp')}
      if command -v dotnet >/dev/null; then cd client && dotnet build --nologo -v quiet; else echo "NOTE: generated only, because there is no dotnet"; fi`,
  },
]
