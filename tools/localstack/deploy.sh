#!/bin/sh
# deploy.sh STACK [NAME=VALUE...]: deploys what `sam build` has built to the LocalStack at AWS_ENDPOINT_URL, with these parameters.
#
# LocalStack 4.14 resolves references before it applies the transform of SAM, so it refuses a template that refers to what SAM makes, such as
# PlanFunction.Version. SAM's own translator, which AWS runs, therefore expands the template here (tools/sam/expand.py).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
stack=$1
shift
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_DEFAULT_REGION=us-east-1 SAM_CLI_TELEMETRY=0
build=$root/.aws-sam/build
sam=$root/bin/tools/sam/bin/sam
cd "$root"
"$sam" package --config-env localstack --resolve-s3 --no-progressbar --template-file "$build/template.yaml" --output-template-file "$build/packaged.yaml"
"$root/bin/tools/sam/bin/python" tools/sam/expand.py "$build/packaged.yaml" "$@" >"$build/expanded.json"
bucket=$(sed -n 's|.*CodeUri: s3://\([^/]*\)/.*|\1|p' "$build/packaged.yaml" | head -n 1)
exec "$sam" deploy --config-env localstack --s3-bucket "$bucket" --no-progressbar --template-file "$build/expanded.json" --stack-name "$stack" \
	--parameter-overrides "$*"
