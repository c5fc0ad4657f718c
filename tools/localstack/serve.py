"""serve.py DYNAMODB FOLDER: LocalStack's free edition without Docker, at http://127.0.0.1:4566, until it is terminated.

LocalStack is not changed but for what needs a container or a download: functions run as processes (processes.py), DYNAMODB is the program that
serves DynamoDB instead of DynamoDB Local, and it listens on the loopback interface alone. FOLDER takes its files. Signatures of requests to S3
are checked, as on AWS.
"""

import os
import sys

DYNAMODB, FOLDER = (os.path.abspath(path) for path in sys.argv[1:3])
os.environ |= {
    "FILESYSTEM_ROOT": FOLDER,
    "OVERRIDE_IN_DOCKER": "false",
    "GATEWAY_LISTEN": "127.0.0.1:4566",
    "DNS_ADDRESS": "0",
    "DISABLE_EVENTS": "1",
    "SKIP_SSL_CERT_DOWNLOAD": "1",
    "S3_SKIP_SIGNATURE_VALIDATION": "0",
    "DYNAMODB_IN_MEMORY": "1",
    "LAMBDA_SYNCHRONOUS_CREATE": "1",
}
for name in ("AWS_ENDPOINT_URL", "AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
    os.environ.pop(name, None)  # those of the user's own account

from localstack.runtime.main import main  # noqa: E402
from localstack.services.dynamodb.server import DynamodbServer, _log_listener  # noqa: E402
from localstack.services.lambda_.invocation.plugins import DockerRuntimeExecutorPlugin  # noqa: E402
from localstack.utils.common import TMP_THREADS, ShellCommandThread  # noqa: E402
from processes import ProcessExecutor  # noqa: E402
from twisted.internet import endpoints  # noqa: E402


class LoopbackEndpoint(endpoints.TCP4ServerEndpoint):
    """LocalStack listens on all interfaces, whatever GATEWAY_LISTEN says."""

    def __init__(self, reactor, port, backlog=50, interface="127.0.0.1"):
        super().__init__(reactor, port, backlog, interface)


def start_dynamodb(server):
    # setpriv, so that the server does not outlive LocalStack.
    command = ["setpriv", "--pdeathsig", "KILL", DYNAMODB, "--port", str(server.port)]
    thread = ShellCommandThread(command, log_listener=_log_listener, auto_restart=True, name="dynamodb")
    TMP_THREADS.append(thread)
    thread.start()
    return thread


endpoints.TCP4ServerEndpoint = LoopbackEndpoint
DynamodbServer.do_start_thread = start_dynamodb
DockerRuntimeExecutorPlugin.load = lambda *_: ProcessExecutor
main()
