"""Functions of LocalStack as processes of this machine instead of containers.

Each execution environment is one process of the function's bootstrap with a server of the Lambda runtime API of its own
(docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html), on a free port of the loopback interface. It has no limit of memory, no /tmp of its
own and may write everywhere: for functions that are trusted, such as those of this repository.
"""

import json
import os
import queue
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from localstack import config
from localstack.services.lambda_.invocation.executor_endpoint import StatusErrorException
from localstack.services.lambda_.invocation.lambda_models import InvocationResult
from localstack.services.lambda_.invocation.runtime_executor import RuntimeExecutor

API = "/2018-06-01/runtime/"
# How often a wait looks whether the process has ended, in seconds.
TICK = 0.05


class RuntimeAPI(BaseHTTPRequestHandler):
    """What a function asks for its invocations and tells their results. Its server has the attribute process."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def log_message(self, *args):
        pass

    def do_GET(self):
        invocation = self.server.process.next() if self.path == API + "invocation/next" else None
        if invocation:
            self.reply(200, *invocation)
        else:
            self.close_connection = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])) if "Content-Length" in self.headers else self.read_chunks()
        what = self.path.removeprefix(API).split("/")  # init/error, or invocation/ID/response or error
        if what[0] == "init":
            self.server.process.init_error = body
        else:
            self.server.process.results.put((what[1], what[2] == "error", body))
        self.reply(202, b"{}", {})

    def read_chunks(self):
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def reply(self, status, body, headers):
        self.send_response(status)
        for name, value in (headers | {"Content-Length": len(body)}).items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)


class Process:
    """A running bootstrap. One invocation at a time."""

    def __init__(self, folder, environment):
        self.invocations, self.results = queue.Queue(), queue.Queue()
        self.asked, self.init_error, self.output = threading.Event(), None, []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), RuntimeAPI)
        self.server.daemon_threads, self.server.process = True, self
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        environment = environment | {"AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{self.server.server_port}"}
        self.child = subprocess.Popen(
            [os.path.join(folder, "bootstrap")],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        threading.Thread(target=self.read_output, daemon=True).start()

    def read_output(self):
        for line in self.child.stdout:
            self.output.append(line.decode(errors="replace"))

    def next(self):
        """Returns the next invocation as its payload and headers; None if the process is to end."""
        self.asked.set()
        return self.invocations.get()

    def exited(self):
        return self.child.poll() is not None

    def exit_error(self, prefix=""):
        message = f"{prefix}Error: Runtime exited with error: exit status {self.child.poll()}"
        return json.dumps({"errorType": "Runtime.ExitError", "errorMessage": message}).encode()

    def wait_for_first_request(self):
        while not self.asked.wait(TICK):
            if self.init_error or self.exited():
                raise StatusErrorException("The function did not start.", payload=self.init_error or self.exit_error())

    def wait_for_result(self, request_id, seconds):
        """Returns whether the invocation failed, and its answer or error. A process that takes too long is killed."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            try:
                answered, failed, body = self.results.get(timeout=min(left, TICK))
            except queue.Empty:
                if self.exited() and self.results.empty():
                    return True, self.exit_error(f"RequestId: {request_id} ")
                continue
            if answered == request_id:
                return failed, body
        self.stop()
        message = f"RequestId: {request_id} Error: Task timed out after {seconds:.2f} seconds"
        return True, json.dumps({"errorType": "Sandbox.Timedout", "errorMessage": message}).encode()

    def stop(self):
        self.invocations.put(None)
        self.child.kill()
        self.child.wait()
        self.server.shutdown()
        self.server.server_close()


class ProcessExecutor(RuntimeExecutor):
    """The execution environments of LocalStack. A process that has ended is started again by the next invocation."""

    process = None

    @classmethod
    def prepare_version(cls, function_version):
        function_version.config.code.prepare_for_execution()

    @classmethod
    def cleanup_version(cls, function_version):
        pass

    def start(self, env_vars):
        self.folder = str(self.function_version.config.code.get_unzipped_code_location())
        self.environment = {k: str(v) for k, v in env_vars.items() if not k.startswith("LOCALSTACK_")}
        self.environment |= {"PATH": "/usr/local/bin:/usr/bin:/bin", "LAMBDA_TASK_ROOT": self.folder}
        self.start_process()

    def start_process(self):
        self.process = Process(self.folder, self.environment)
        self.process.wait_for_first_request()

    def stop(self):
        if self.process:
            self.process.stop()

    def get_address(self):
        return "127.0.0.1"

    get_endpoint_from_executor = get_address

    def get_runtime_endpoint(self):
        return f"http://127.0.0.1:{config.GATEWAY_LISTEN[0].port}/_localstack_lambda/{self.id}"

    def get_logs(self):
        return "".join(self.process.output)

    def invoke(self, payload):
        if self.process.exited():
            self.start_process()
        process, request_id = self.process, payload["invoke-id"]
        seconds = self.function_version.config.timeout
        process.output.clear()
        process.invocations.put(
            (
                payload["payload"].encode(),
                {
                    "Content-Type": "application/json",
                    "Lambda-Runtime-Aws-Request-Id": request_id,
                    "Lambda-Runtime-Deadline-Ms": int((time.time() + seconds) * 1000),
                    "Lambda-Runtime-Invoked-Function-Arn": payload["invoked-function-arn"],
                    "Lambda-Runtime-Trace-Id": payload.get("trace-id", ""),
                },
            )
        )
        failed, body = process.wait_for_result(request_id, seconds)
        version = self.function_version.id.qualifier
        logs = f"START RequestId: {request_id} Version: {version}\n{self.get_logs()}END RequestId: {request_id}\n"
        return InvocationResult(request_id, body, is_error=failed, logs=logs)
