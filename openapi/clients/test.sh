#!/usr/bin/env bash
# Makes a client of openapi/sluice.bundled.json with each generator, compiles it, and takes a batch to PROCESSED with it on
# a local cloud of its own; lints the description, and calls the interface as it says. Prints a table. `make test-clients`
# runs it, with the versions of the tools in its environment. Arguments are the rows to do; none means all.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
root=$PWD work=$PWD/bin/clients description=$PWD/openapi/sluice.bundled.json drivers=$PWD/openapi/clients
export GOFLAGS=-mod=mod GOWORK=off
mkdir -p "$work/log"
failed=0

# tools NAME...: names those that are missing.
tools() {
    missing=
    for tool in "$@"; do command -v "$tool" >/dev/null || missing="$missing $tool"; done
    [ -z "$missing" ]
}

# row NAME "TOOLS" FUNCTION...: runs the functions in order and prints a line of the table.
row() {
    local name=$1 needs=$2 cells='' result started=$SECONDS
    shift 2
    [ -z "$wanted" ] || [[ " $wanted " == *" $name "* ]] || return 0
    # shellcheck disable=SC2086
    if ! tools $needs; then
        printf '%-36s %s\n' "$name" "not run: missing$missing"
        return
    fi
    for step in "$@"; do
        # Not as the condition of an if, where set -e has no effect and only the last command would count.
        (set -e; "$step") >"$work/log/$name.$step" 2>&1
        # shellcheck disable=SC2181
        if [ $? = 0 ]; then result=ok; else result=FAILED failed=1; fi
        cells="$cells $(printf '%-18s' "${step##*_} $result")"
        [ $result = ok ] || { cells="$cells bin/clients/log/$name.$step"; break; }
    done
    printf '%-36s%s %4d s\n' "$name" "$cells" $((SECONDS - started))
}

generator_jar() {
    local jar=$work/openapi-generator-cli-$OPENAPI_GENERATOR.jar
    [ -f "$jar" ] || mvn -q -B dependency:copy "-Dartifact=org.openapitools:openapi-generator-cli:$OPENAPI_GENERATOR" \
        "-DoutputDirectory=$work" >&2 || return
    echo "$jar"
}

# openapi_generator LANGUAGE [OPTION...]
openapi_generator() {
    local language=$1 jar
    shift
    jar=$(generator_jar) || return
    rm -rf "$work/$language"
    java -jar "$jar" generate -g "$language" -i "$description" -o "$work/$language" "$@"
}

java_generate() { openapi_generator java --library native -p hideGenerationTimestamp=true; }
java_compile() {
    cp "$drivers/openapi-generator-java/Batch.java" "$work/java/src/main/java/"
    cd "$work/java" && mvn -q -B compile dependency:build-classpath -Dmdep.outputFile=classpath
}
java_batch() { java -cp "$work/java/target/classes:$(cat "$work/java/classpath")" Batch; }

go_generate() {
    openapi_generator go -p withGoMod=true,enumClassPrefix=true --git-host example.com --git-user-id sluice --git-repo-id client
}
go_compile() { go_driver "$work/go" openapi-generator-go; }
go_batch() { "$work/go/batch"; }

oapi_generate() {
    rm -rf "$work/oapi-codegen" && mkdir -p "$work/oapi-codegen"
    go run "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@$OAPI_CODEGEN" -generate types,client -package client \
        -o "$work/oapi-codegen/client.go" "$description"
    (cd "$work/oapi-codegen" && go mod init example.com/sluice/client)
}
oapi_compile() { go_driver "$work/oapi-codegen" oapi-codegen; }
oapi_batch() { "$work/oapi-codegen/batch"; }

ogen_generate() {
    rm -rf "$work/ogen" && mkdir -p "$work/ogen"
    cd "$work/ogen" && go mod init example.com/sluice/client
    go run "github.com/ogen-go/ogen/cmd/ogen@$OGEN" --target . --package client --clean "$description"
}
ogen_compile() { go_driver "$work/ogen" ogen; }
ogen_batch() { "$work/ogen/batch"; }

# go_driver FOLDER CLIENT: compiles the generated module and its driver.
go_driver() {
    mkdir -p "$1/cmd/batch"
    sed '/^\/\/go:build ignore$/d' "$drivers/$2/main.go" >"$1/cmd/batch/main.go"
    cd "$1" && go mod tidy && go vet . && go build -o batch ./cmd/batch
}

# python_with PACKAGE...: an environment of its own with packages.
python_with() {
    local name=$1
    shift
    [ -x "$work/$name-env/bin/python" ] || python3 -m venv "$work/$name-env"
    "$work/$name-env/bin/pip" install -q "$@"
}

python_generate() { openapi_generator python; }
python_compile() {
    python_with python "$work/python"
    "$work/python-env/bin/python" -m compileall -q "$work/python/openapi_client"
    "$work/python-env/bin/python" -c 'import openapi_client; openapi_client.Line; openapi_client.EntitiesApi'
}
python_batch() { "$work/python-env/bin/python" "$drivers/openapi-generator-python/batch.py"; }

opc_generate() {
    python_with openapi-python-client "openapi-python-client==$OPENAPI_PYTHON_CLIENT"
    rm -rf "$work/openapi-python-client"
    PATH=$work/openapi-python-client-env/bin:$PATH openapi-python-client generate --path "$description" \
        --output-path "$work/openapi-python-client" | tee "$work/log/openapi-python-client"
    ! grep -q 'Unable to' "$work/log/openapi-python-client"
}
opc_compile() {
    python_with openapi-python-client "$work/openapi-python-client"
    cd "$work/openapi-python-client"
    "$work/openapi-python-client-env/bin/python" -m compileall -q sluice_client
    find sluice_client -name '*.py' ! -name __init__.py | sed 's/\.py$//; s#/#.#g; s/^/import /' |
        "$work/openapi-python-client-env/bin/python" -
}
opc_batch() { "$work/openapi-python-client-env/bin/python" "$drivers/openapi-python-client/batch.py"; }

# npm_with FOLDER PACKAGE...
npm_with() {
    mkdir -p "$work/$1" && cd "$work/$1"
    [ -f package.json ] || echo '{"private": true}' >package.json
    npm install --ignore-scripts --no-audit --no-fund --silent "${@:2}"
}

tsc_driver() {
    cd "$1" && "$work/typescript/node_modules/.bin/tsc" --strict --skipLibCheck --target es2022 --lib es2022,dom,dom.iterable \
        --module nodenext --moduleResolution nodenext --typeRoots "$work/typescript/node_modules/@types" --types node --outDir out batch.ts
}

fetch_generate() {
    npm_with typescript "typescript@$TYPESCRIPT" "@types/node@$TYPES_NODE"
    openapi_generator typescript-fetch
}
fetch_compile() {
    cp "$drivers/openapi-generator-typescript-fetch/batch.ts" "$work/typescript-fetch/"
    tsc_driver "$work/typescript-fetch"
}
fetch_batch() { node "$work/typescript-fetch/out/batch.js"; }

ots_generate() {
    npm_with typescript "typescript@$TYPESCRIPT" "@types/node@$TYPES_NODE" "openapi-fetch@$OPENAPI_FETCH" "openapi-typescript@$OPENAPI_TYPESCRIPT"
    mkdir -p "$work/typescript/openapi-typescript"
    "$work/typescript/node_modules/.bin/openapi-typescript" "$description" -o "$work/typescript/openapi-typescript/sluice.d.ts"
}
ots_compile() {
    cp "$drivers/openapi-typescript/batch.ts" "$work/typescript/openapi-typescript/"
    tsc_driver "$work/typescript/openapi-typescript"
}
ots_batch() { node "$work/typescript/openapi-typescript/out/batch.js"; }

redocly_lint() {
    npm_with redocly "@redocly/cli@$REDOCLY"
    REDOCLY_TELEMETRY=off "$work/redocly/node_modules/.bin/redocly" lint --config "$drivers/redocly.yaml" "$description" 2>&1 | tee "$work/log/redocly"
    ! grep -qiE '[1-9][0-9]* (warning|error)' "$work/log/redocly"
}

spectral_lint() {
    npm_with spectral "@stoplight/spectral-cli@$SPECTRAL"
    "$work/spectral/node_modules/.bin/spectral" lint --ruleset "$drivers/spectral.yaml" --fail-severity hint "$description"
}

schemathesis_calls() {
    python_with schemathesis "schemathesis==$SCHEMATHESIS"
    cd "$work"
    "$work/schemathesis-env/bin/schemathesis" --config-file "$drivers/schemathesis.toml" run "$description" --url "$API_URL" --header "Authorization: Bearer $TOKEN" \
        --header "X-TENANT-ID: $TENANT" --checks all --exclude-checks unsupported_method,positive_data_acceptance \
        --phases examples,coverage,fuzzing --max-examples 20 --workers 1 --continue-on-failure
}

# start_cloud starts a local cloud and makes the batch. The variables are what the drivers read.
start_cloud() {
    rm -rf "$work/data"
    "$root/bin/sluice" local --data "$work/data" --ready-file "$work/data/ready.json" >"$work/log/cloud" 2>&1 &
    cloud=$!
    trap 'kill $cloud; wait $cloud' EXIT
    for _ in $(seq 240); do [ -f "$work/data/ready.json" ] && break; sleep 0.5; done
    value() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" "$work/data/ready.json"; }
    API_URL=$(value api_url) CLIENT_ID=$(value client_id) CLIENT_SECRET=$(value client_secret) SCOPE=$(value scope)
    TENANT=$(value tenant_id) BATCH=$work/data/batch.jsonl SLUICE_DATA=$work/data
    export API_URL CLIENT_ID CLIENT_SECRET SCOPE TENANT BATCH SLUICE_DATA
    "$root/bin/sluice" generate --lines 200 -o "$BATCH" && "$root/bin/sluice" admin entities import "$BATCH.entities" || return
    TOKEN=$(curl -sS "$API_URL/oauth2/token" -d grant_type=client_credentials -d "client_id=$CLIENT_ID" \
        --data-urlencode "client_secret=$CLIENT_SECRET" -d "scope=$SCOPE" | sed 's/.*"access_token": *"\([^"]*\)".*/\1/')
    export TOKEN
}

wanted=$*
start_cloud >"$work/log/start" 2>&1 || { cat "$work/log/start" "$work/log/cloud"; exit 1; }
row openapi-generator-java "java mvn" java_generate java_compile java_batch
row openapi-generator-go "java mvn go" go_generate go_compile go_batch
row openapi-generator-python "java mvn python3" python_generate python_compile python_batch
row openapi-generator-typescript-fetch "java mvn node npm" fetch_generate fetch_compile fetch_batch
row oapi-codegen "go" oapi_generate oapi_compile oapi_batch
row ogen "go" ogen_generate ogen_compile ogen_batch
row openapi-python-client "python3" opc_generate opc_compile opc_batch
row openapi-typescript "node npm" ots_generate ots_compile ots_batch
row redocly "node npm" redocly_lint
row spectral "node npm" spectral_lint
row schemathesis "python3 curl" schemathesis_calls
exit $failed
