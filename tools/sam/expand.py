"""The template as CloudFormation sees it: what SAM, which CloudFormation runs on AWS, makes of it.

expand.py TEMPLATE [NAME=VALUE...] prints what it makes of a packaged template for a deployment with these parameters, as JSON.
"""

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("AWS_DEFAULT_REGION", "eu-central-1")
from samtranslator.translator.transform import transform  # noqa: E402
from samtranslator.yaml_helper import yaml_parse  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
CODE_BUCKET = "code"


class ManagedPolicies:
    """The policies of AWS that SAM attaches to roles, by their names."""

    def load(self):
        prefix = "arn:aws:iam::aws:policy/"
        service_roles = ("AWSLambdaBasicExecutionRole", "AWSLambdaVPCAccessExecutionRole")
        tracing = ("AWSXrayWriteOnlyAccess", "AWSXRayDaemonWriteAccess")
        return {n: prefix + "service-role/" + n for n in service_roles} | {n: prefix + n for n in tracing}


def packaged():
    """Returns the template with the addresses that sam package puts in the place of folders and files."""
    template = yaml_parse((ROOT / "template.yaml").read_text())
    for name, resource in template["Resources"].items():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::Serverless::Function":
            properties["CodeUri"] = f"s3://{CODE_BUCKET}/{name}.zip"
        if "DefinitionUri" in properties:
            properties["DefinitionUri"] = f"s3://{CODE_BUCKET}/{properties['DefinitionUri']}"
    template["Globals"]["Function"].pop("CodeUri")
    return template


def expand(template=None, **parameters):
    """Returns the template, or another one that is packaged, expanded for a deployment with these parameters."""
    stderr, sys.stderr = sys.stderr, open(os.devnull, "w")  # SAM's notes about its own metrics
    try:
        return transform(template or packaged(), parameters, ManagedPolicies())
    finally:
        sys.stderr.close()
        sys.stderr = stderr


if __name__ == "__main__":
    given = dict(argument.split("=", 1) for argument in sys.argv[2:])
    json.dump(expand(yaml_parse(Path(sys.argv[1]).read_text()), **given), sys.stdout, default=str)
