"""What AWS makes of the template: make test-template.

internal/repotest asserts the same on the template as it is written, without Python. Here SAM itself expands it, cfn-lint checks
the result by the specification of CloudFormation, and moto, an AWS in memory, creates it as a stack.
"""

import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

os.environ.update(AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="x", AWS_DEFAULT_REGION="eu-central-1")
from expand import CODE_BUCKET, ROOT, expand, packaged  # noqa: E402

MUTUAL_TLS = {
    "DomainName": "api.example.com",
    "CertificateArn": "arn:aws:acm:eu-central-1:123456789012:certificate/11111111-2222-3333-4444-555555555555",
    "TruststoreUri": "s3://bucket/ca.pem",
    "TruststoreVersion": "1",
}
# Everything that a parameter switches on.
ALL = MUTUAL_TLS | {
    "AlarmTopicArn": "arn:aws:sns:eu-central-1:123456789012:alarms",
    "AuditLockDays": "10",
    "BatchesTableName": "batches-20261122",
    "DeletionProtection": "true",
    "LogLevel": "DEBUG",
    "MethodMetrics": "true",
    "Tracing": "PassThrough",
    "TransactionsBackup": "false",
    "TransactionsBillingMode": "PROVISIONED",
    "TransactionsWarmThroughput": "12000,40000",
    "UploadOrigins": "https://app.example.com",
    "WebAclArn": "arn:aws:wafv2:eu-central-1:123456789012:regional/webacl/a/b",
}
# What takes the place of a resource that moto does not know.
LEFT_OUT = "arn:aws:lambda:eu-central-1:123456789012:function:left-out"
# Tables of what lasts for minutes to a month and that no restore would bring back; internal/repotest has the same list.
MOMENTARY_TABLES = ("AdmissionTable", "IdempotencyTable", "LimitsTable", "ObservationsTable")
MAX_RESOURCES = 500 * 70 // 100
MAX_INVOKE_POLICY = 16 * 1024  # of 20 KB
MAX_ROLE_POLICIES = 10_240 * 70 // 100


def of_type(template, kind):
    return {name: r for name, r in template["Resources"].items() if r["Type"] == kind}


def mentions(value):
    """Returns the names of the resources and parameters that a value refers to."""
    if isinstance(value, list):
        return set().union(*map(mentions, value))
    if not isinstance(value, dict):
        return set()
    if "Ref" in value:
        return {value["Ref"]}
    if "Fn::GetAtt" in value:
        attribute = value["Fn::GetAtt"]
        return {(attribute if isinstance(attribute, list) else attribute.split("."))[0]}
    found = set().union(*map(mentions, value.values()))
    if "Fn::Sub" in value:
        text, own = value["Fn::Sub"] if isinstance(value["Fn::Sub"], list) else (value["Fn::Sub"], {})
        found |= {m.split(".")[0] for m in re.findall(r"\$\{([^!}]+)\}", text)} - set(own)
    return found


class References(unittest.TestCase):
    """What SAM makes of the template refers to what is in it: make lint-template."""

    def test_references(self):
        for name, template in (("defaults", expand()), ("everything", expand(**ALL))):
            known = set(template["Resources"]) | set(template["Parameters"])
            for section in ("Resources", "Outputs"):
                for logical_id, value in template[section].items():
                    unknown = {m for m in mentions(value) - known if not m.startswith("AWS::")}
                    self.assertFalse(unknown, f"{name}: {logical_id} refers to {unknown}, which the template does not have")


class Expanded(unittest.TestCase):
    """What SAM makes of the template."""

    @classmethod
    def setUpClass(cls):
        cls.template = expand()
        cls.everything = expand(**ALL)

    def test_size(self):
        for template in (self.template, self.everything):
            self.assertLess(len(template["Resources"]), MAX_RESOURCES)
            self.assertLess(len(json.dumps(template)), 1_000_000)

    def test_the_only_stage_is_that_of_the_parameter(self):
        deployments = of_type(self.template, "AWS::ApiGateway::Deployment")
        self.assertEqual(len(deployments), 1)
        for name, deployment in deployments.items():
            self.assertNotIn("StageName", deployment["Properties"], f"{name} makes a public stage of its own")
        stages = [r["Properties"] for r in of_type(self.template, "AWS::ApiGateway::Stage").values()]
        self.assertEqual([s["StageName"] for s in stages], [{"Ref": "StageName"}])
        self.assertIn("AccessLogSetting", stages[0])

    def test_a_change_outside_the_description_is_deployed(self):
        """Mutual TLS closes the API's own address, which only a deployment does."""
        names = []
        for now, parameters in ((1_000_000_000, {}), (1_000_000_060, MUTUAL_TLS)):
            with mock.patch("time.time", return_value=now):
                names += of_type(expand(**parameters), "AWS::ApiGateway::Deployment")
        self.assertNotEqual(*names)
        server = self.everything["Resources"]["Api"]["Properties"]["Body"]["servers"][0]
        self.assertEqual(
            server["x-amazon-apigateway-endpoint-configuration"], {"disableExecuteApiEndpoint": {"Fn::If": ["MutualTls", True, False]}}
        )

    def test_requests_without_a_token_do_not_run_the_authorizer(self):
        body = self.template["Resources"]["Api"]["Properties"]["Body"]
        authorizer = body["components"]["securitySchemes"]["BearerToken"]["x-amazon-apigateway-authorizer"]
        self.assertEqual(authorizer["identitySource"], "method.request.header.Authorization")
        self.assertEqual(authorizer["authorizerResultTtlInSeconds"], 0)
        for path, operations in body["paths"].items():
            for method, operation in operations.items():
                self.assertIn(operation["security"], ([{"BearerToken": []}], [{"NONE": []}]), f"{method} {path}")

    def test_a_failed_first_deployment_leaves_nothing(self):
        for kind in ("AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::KMS::Key"):
            resources = of_type(self.template, kind)
            self.assertTrue(resources)
            for name, resource in resources.items():
                if name not in MOMENTARY_TABLES:
                    self.assertEqual(resource.get("DeletionPolicy"), "RetainExceptOnCreate", name)
                    self.assertEqual(resource.get("UpdateReplacePolicy"), "Retain", name)

    def test_functions(self):
        functions = of_type(self.template, "AWS::Lambda::Function")
        self.assertGreater(len(functions), 30)
        for name, function in functions.items():
            properties = function["Properties"]
            self.assertEqual(properties["LoggingConfig"]["ApplicationLogLevel"], {"Fn::If": ["LogsDebug", "DEBUG", "INFO"]}, name)
            self.assertIn("ReservedConcurrentExecutions", properties, name)
            self.assertEqual(properties["Architectures"], [{"Ref": "Arch"}], name)

    def test_versions_outlive_the_deployment_of_others(self):
        versions = of_type(self.template, "AWS::Lambda::Version")
        self.assertGreaterEqual(len(versions), 14)
        for name, version in versions.items():
            self.assertEqual(version.get("DeletionPolicy"), "Retain", name)
            self.assertEqual(version.get("UpdateReplacePolicy"), "Retain", name)
            self.assertIn("LogLevel", mentions(version["Properties"]["Description"]), name)
        for name, machine in of_type(self.template, "AWS::StepFunctions::StateMachine").items():
            substitutions = machine["Properties"]["DefinitionSubstitutions"]
            definition = (ROOT / machine["Properties"]["DefinitionS3Location"]["Key"]).read_text()
            self.assertEqual(set(re.findall(r"\$\{(\w+)\}", definition)), set(substitutions), name)
            self.assertEqual(substitutions.pop("Partition"), {"Ref": "AWS::Partition"}, name)
            for value in substitutions.values():
                self.assertLessEqual(mentions(value), set(versions), f"{name} names {value}, which is no version")

    def test_events_reach_the_alias_that_has_their_retries(self):
        aliases = {n: r["Properties"]["FunctionName"]["Ref"] for n, r in of_type(self.template, "AWS::Lambda::Alias").items()}
        for name, config in of_type(self.template, "AWS::Lambda::EventInvokeConfig").items():
            properties = config["Properties"]
            versioned = properties["FunctionName"]["Ref"] in aliases.values()
            self.assertEqual(properties["Qualifier"], "live" if versioned else "$LATEST", name)
        for kind, member in (("AWS::Events::Rule", "Targets"), ("AWS::Lambda::Permission", "FunctionName")):
            for name, resource in of_type(self.template, kind).items():
                past = mentions(resource["Properties"][member]) & set(aliases.values())
                self.assertFalse(past, f"{name} names {past}, want its alias")

    def test_uploads_are_noticed(self):
        configuration = self.template["Resources"]["UploadsBucket"]["Properties"]["NotificationConfiguration"]
        rules = [rule for c in configuration["LambdaConfigurations"] for rule in c["Filter"]["S3Key"]["Rules"]]
        self.assertEqual({(r["Name"], r["Value"]) for r in rules}, {("prefix", "uploads/"), ("prefix", "documents/")})
        self.assertIn("EventBridgeConfiguration", configuration)

    def test_lint(self):
        for name, template in (("defaults", self.template), ("everything", self.everything)):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                file = Path(folder, "expanded.json")
                file.write_text(json.dumps(template, default=str))
                regions = ["--regions", "eu-central-1", "us-east-1"]
                command = [Path(sys.executable).with_name("cfn-lint"), *regions, "--", file]
                result = subprocess.run(command, capture_output=True, text=True, check=False)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


class Deployed(unittest.TestCase):
    """The stack on moto, without the resources that it does not know."""

    @classmethod
    def setUpClass(cls):
        import boto3
        from moto import mock_aws
        from moto.core.common_models import CloudFormationModel

        cls.aws = mock_aws(config={"lambda": {"use_docker": False}})
        cls.aws.start()
        cls.addClassCleanup(cls.aws.stop)
        cls.client = staticmethod(boto3.client)
        s3, cloudformation = boto3.client("s3"), boto3.client("cloudformation")
        s3.create_bucket(Bucket=CODE_BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
        program = io.BytesIO()
        with zipfile.ZipFile(program, "w") as z:
            z.writestr("bootstrap", "x")
        template = expand(**cls.parameters())
        import moto.cloudformation.parsing  # noqa: F401  registers all models

        known = {m.cloudformation_type() for m in CloudFormationModel.__subclasses__()}
        # moto cannot make a deployment of an API, and what depends on one, from a template.
        known -= {"AWS::ApiGateway::Deployment", "AWS::ApiGateway::Stage", "AWS::ApiGateway::DomainName"}
        cls.left_out = {n: LEFT_OUT for n, r in template["Resources"].items() if r["Type"] not in known}
        for name, alias in of_type(template, "AWS::Lambda::Alias").items():
            cls.left_out[name] = {"Fn::GetAtt": [alias["Properties"]["FunctionName"]["Ref"], "Arn"]}
        template["Resources"] = {n: r for n, r in template["Resources"].items() if n not in cls.left_out}
        template.pop("Outputs", None)
        template = cls.without(template, cls.left_out)
        for resource in template["Resources"].values():
            properties = resource.get("Properties", {})
            if resource["Type"] == "AWS::Lambda::Function":
                s3.put_object(Bucket=CODE_BUCKET, Key=properties["Code"]["S3Key"], Body=program.getvalue())
            if resource["Type"] == "AWS::StepFunctions::StateMachine":
                # moto reads no definition from S3.
                properties["DefinitionString"] = (ROOT / properties.pop("DefinitionS3Location")["Key"]).read_text()
            if resource["Type"] == "AWS::ApiGateway::RestApi":
                properties["Name"] = "api"
        s3.put_object(Bucket=CODE_BUCKET, Key="template.json", Body=json.dumps(template))
        cloudformation.create_stack(
            StackName="stack",
            TemplateURL=f"https://{CODE_BUCKET}.s3.amazonaws.com/template.json",
            Capabilities=["CAPABILITY_IAM"],
            Parameters=[{"ParameterKey": k, "ParameterValue": v} for k, v in cls.parameters().items()],
        )
        cls.status = cloudformation.describe_stacks(StackName="stack")["Stacks"][0]["StackStatus"]

    @staticmethod
    def parameters():
        return {"Prefix": "x" * 21}  # the longest names

    @classmethod
    def without(cls, value, names):
        """Returns a value in which something else takes the place of each reference to some resources."""
        if isinstance(value, list):
            return [cls.without(v, names) for v in value]
        if not isinstance(value, dict):
            return value
        if len(value) == 1 and next(iter(value)) in ("Ref", "Fn::GetAtt") and mentions(value) & set(names):
            return names[mentions(value).pop()]
        if "Fn::Sub" in value and isinstance(value["Fn::Sub"], str):
            pattern = r"\$\{(" + "|".join(names) + r")(\.\w+)?\}"
            return {"Fn::Sub": re.sub(pattern, LEFT_OUT, value["Fn::Sub"])}
        out = {k: cls.without(v, names) for k, v in value.items()}
        if "DependsOn" in out:
            wanted = out["DependsOn"] if isinstance(out["DependsOn"], list) else [out["DependsOn"]]
            out["DependsOn"] = [n for n in wanted if n not in names]
        return out

    def test_the_stack_is_complete(self):
        self.assertEqual(self.status, "CREATE_COMPLETE")
        kinds = {packaged()["Resources"][n]["Type"] for n in self.left_out if n in packaged()["Resources"]}
        print("\nnot known to moto:", ", ".join(sorted(kinds)))
        self.assertLess(len(self.left_out), 90)

    def test_resource_policies_have_room(self):
        client, largest = self.client("lambda"), 0
        for page in client.get_paginator("list_functions").paginate():
            for function in page["Functions"]:
                try:
                    policy = client.get_policy(FunctionName=function["FunctionName"])["Policy"]
                except client.exceptions.ResourceNotFoundException:
                    continue
                largest = max(largest, len(policy))
                self.assertLess(len(policy), MAX_INVOKE_POLICY, function["FunctionName"])
        print(f"\nlargest resource policy: {largest} bytes of 20,480")

    def test_policies_of_roles_have_room(self):
        client, largest = self.client("iam"), 0
        for role in client.list_roles()["Roles"]:
            size = 0
            for name in client.list_role_policies(RoleName=role["RoleName"])["PolicyNames"]:
                document = client.get_role_policy(RoleName=role["RoleName"], PolicyName=name)["PolicyDocument"]
                size += len(json.dumps(document, separators=(",", ":")))
            largest = max(largest, size)
            self.assertLess(size, MAX_ROLE_POLICIES, role["RoleName"])
        print(f"\nlargest policies of a role: {largest} characters of 10,240")

    def test_tables(self):
        names = self.client("dynamodb").list_tables()["TableNames"]
        self.assertIn("x" * 21 + "-transactions", names)
        self.assertGreaterEqual(len(names), 12)


if __name__ == "__main__":
    unittest.main(verbosity=2)
