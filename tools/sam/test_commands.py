"""The commands of the AWS CLI in the documents exist, with their options: by the descriptions of the services in botocore, of which the
CLI makes its commands."""

import re
import unittest

import botocore.session
from botocore import xform_name
from expand import ROOT

GLOBAL_OPTIONS = {"query", "output", "region", "cli-binary-format", "max-items"}
# Commands that the CLI has beside those of the services.
CUSTOM = {("s3", "sync"), ("logs", "tail")}
# Options that have another name on the command line, since a global option has theirs.
RENAMED = {("sns", "subscribe"): {"notification-endpoint"}}


def commands():
    """Yields each command of the AWS CLI in the documents, and the document."""
    for document in sorted(ROOT.glob("docs/**/*.md")):
        text = document.read_text().replace("\\\n", " ")
        for match in re.finditer(r"\baws ([a-z0-9-]+) ((?:wait )?[a-z0-9-]+)((?: [^\n`]*)?)", text):
            if re.match(r"[a-z0-9]+(-[a-z0-9]+)*$", match[1]):
                yield document.name, match[1], match[2], match[3]


class Commands(unittest.TestCase):
    def test_commands_and_options_exist(self):
        session, checked = botocore.session.get_session(), 0
        for document, service, command, rest in commands():
            with self.subTest(f"{document}: aws {service} {command}"):
                if (service, command) in CUSTOM:
                    continue
                service = {"s3api": "s3"}.get(service, service)
                self.assertTrue(service in session.get_available_services(), "no such service")
                model = session.get_service_model(service)
                if command.startswith("wait "):
                    waiters = session.get_waiter_model(service).waiter_names
                    wanted = command.removeprefix("wait ")
                    waiter = next((w for w in waiters if xform_name(w, "-") == wanted), None)
                    self.assertIsNotNone(waiter, f"no waiter {wanted}")
                    operation = session.get_waiter_model(service).get_waiter(waiter).operation
                else:
                    operation = next((o for o in model.operation_names if xform_name(o, "-") == command), None)
                    self.assertIsNotNone(operation, f"no command {command}")
                shape = model.operation_model(operation).input_shape
                known = {xform_name(m, "-") for m in shape.members} | GLOBAL_OPTIONS | RENAMED.get((service, command), set())
                known |= {"no-" + k for k in known}
                options = re.findall(r"(?<![\w-])--([a-z0-9-]+)", rest.split(" | ")[0].split("$(")[0])
                self.assertLessEqual(set(options), known)
                checked += 1
        self.assertGreater(checked, 30)


if __name__ == "__main__":
    unittest.main()
