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
}

/** Without tests and pages, which nothing reads. */
const generate = (generator: string): string =>
  `rm -rf client && java -jar "$TOOLS/openapi-generator-cli.jar" generate -i "$DOCUMENT" -g ${generator} -o client --global-property apiTests=false,modelTests=false,apiDocs=false,modelDocs=false > generator.log || { tail -20 generator.log; exit 1; }`

const PYTHON = 'test -x venv/bin/python || python3 -m venv venv'
/** The file of its own keeps npm from the packages of this repository. */
const NPM = (...packages: string[]): string =>
  `test -e node_modules/.done || { echo '{"private":true}' > package.json && npm install --silent --no-audit --no-fund --save-exact ${packages.join(' ')} && touch node_modules/.done; }`

export const LANGUAGES: readonly Language[] = [
  {
    name: 'Java, openapi-generator java',
    marks: 'org.openapitools.client',
    needs: ['java', 'mvn'],
    build: `${generate('java')}
      cd client && mvn -q -B -Dmaven.test.skip -Dmaven.javadoc.skip -Dmaven.source.skip compile dependency:build-classpath -Dmdep.outputFile=classpath
      javac -cp "target/classes:$(cat classpath)" -d target/classes "$PROGRAMS/java/Program.java"`,
    run: 'java -cp "client/target/classes:$(cat client/classpath)" Program',
    example: 'cp "$EXAMPLE" Example.java && java -cp "client/target/classes:$(cat client/classpath)" Example.java',
  },
  {
    name: 'Go, openapi-generator go',
    marks: 'switchhook.NewConfiguration',
    needs: ['java', 'go'],
    build: `${generate('go')}
      mkdir client/program && cp "$PROGRAMS/go/main.go" client/program/
      cd client && go get github.com/google/uuid@v1.6.0 && go mod tidy && go vet ./... && go build -o program/program ./program`,
    run: 'client/program/program',
    example: 'mkdir -p client/example && cp "$EXAMPLE" client/example/main.go && cd client && go run ./example',
  },
  {
    name: 'Python, openapi-generator python',
    marks: 'import openapi_client',
    needs: ['java', 'python3'],
    build: `${generate('python')}
      ${PYTHON} && venv/bin/pip install -q ./client && venv/bin/python -W error -m compileall -q client/openapi_client`,
    run: 'venv/bin/python "$PROGRAMS/python/program.py"',
    example: 'venv/bin/python "$EXAMPLE"',
  },
  {
    name: 'TypeScript, openapi-generator typescript-fetch',
    marks: "from './index'",
    needs: ['java', 'npm'],
    build: `${generate('typescript-fetch')}
      cp "$PROGRAMS/typescript-fetch/program.ts" client/
      ${NPM(`typescript@${VERSIONS.typescript}`, '@types/node@24')}
      node_modules/.bin/tsc --strict --target es2022 --module commonjs --moduleResolution node10 --skipLibCheck --types node --outDir out client/program.ts`,
    run: 'node out/program.js',
    example:
      'cp "$EXAMPLE" client/example.ts && node_modules/.bin/tsc --strict --target es2022 --module commonjs --moduleResolution node10 --skipLibCheck --types node --outDir out client/example.ts && node out/example.js',
  },
  {
    name: 'Rust, openapi-generator rust',
    marks: 'use openapi::',
    needs: ['java', 'cargo'],
    build: `${generate('rust')}
      mkdir client/examples && cp "$PROGRAMS/rust/main.rs" client/examples/program.rs
      cd client && printf '[dev-dependencies]\\ntokio = { version = "=${VERSIONS.tokio}", features = ["full"] }\\n' >> Cargo.toml
      cp ../Cargo.lock . 2>/dev/null || true
      CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=../target cargo build -q --example program && cp Cargo.lock ..`,
    run: 'target/debug/examples/program',
    example:
      'cp "$EXAMPLE" client/examples/example.rs && cd client && CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=../target cargo run -q --example example',
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
    needs: ['java'],
    build: `${generate('csharp')}
      if command -v dotnet >/dev/null; then cd client && dotnet build --nologo -v quiet; else echo "NOTE: generated only, because there is no dotnet"; fi`,
  },
]
