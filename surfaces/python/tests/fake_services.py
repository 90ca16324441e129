"""A Vault and a KMS for tests: HTTP servers on the loopback address, with the errors of the real ones."""

from __future__ import annotations

import base64
import json
import os
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

TOKEN = "hvs.token-of-the-tests"


class Refused(Exception):
    """An answer with an error."""

    def __init__(self, status, body):
        self.status, self.body = status, body


class Service:
    """A server. ``fault`` changes its answers: "slow", "truncated", "html", or a dict that is the answer."""

    def __init__(self):
        self.keys, self.calls, self.fault, self.seen = {}, [], None, []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.seen.append(body)
                status, answer = outer.answer(self.path, self.headers, json.loads(body))
                content = json.dumps(answer).encode()
                if outer.fault == "slow":
                    time.sleep(0.5)
                if outer.fault == "html":
                    content = b"<html>a proxy</html>"
                self.send_response(status)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                try:
                    self.wfile.write(content[: len(content) // 2] if outer.fault == "truncated" else content)
                except OSError:
                    pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, path, headers, body):
        if isinstance(self.fault, dict):
            return 200, self.fault
        try:
            return 200, self.serve(path, headers, body)
        except Refused as refused:
            return refused.status, refused.body


class Vault(Service):
    """The transit engine. A key whose name begins with "derived" needs a context."""

    def serve(self, path, headers, body):
        def refuse(status, *errors):
            raise Refused(status, {"errors": list(errors)})

        if headers["x-vault-token"] != TOKEN:
            refuse(403, "permission denied")
        _, version, mount, act, name = path.split("/")
        if (version, mount) != ("v1", "transit"):
            refuse(404)
        self.calls.append((act, name))
        if act == "encrypt":
            # Vault creates keys that are not there.
            self.keys.setdefault(name, AESGCM.generate_key(256))
        if name not in self.keys:
            refuse(400, "encryption key not found")
        context = base64.b64decode(body.get("context", ""))
        if name.startswith("derived") and not context:
            refuse(400, "missing 'context' for key derivation; the key was created using a derived key")
        cipher = AESGCM(self.keys[name])
        if act == "encrypt":
            nonce = os.urandom(12)
            sealed = nonce + cipher.encrypt(nonce, base64.b64decode(body["plaintext"]), context)
            return {"data": {"ciphertext": "vault:v1:" + base64.b64encode(sealed).decode(), "key_version": 1}}
        try:
            sealed = base64.b64decode(body["ciphertext"].removeprefix("vault:v1:"), validate=True)
            plain = cipher.decrypt(sealed[:12], sealed[12:], context)
        except (InvalidTag, ValueError):
            refuse(400, "invalid ciphertext: unable to decrypt")
        return {"data": {"plaintext": base64.b64encode(plain).decode()}}

    def post(self, token=TOKEN, timeout=5):
        """A client, as users write one."""

        def post(path, body):
            request = urllib.request.Request(
                self.address + path, json.dumps(body).encode(), {"x-vault-token": token}
            )
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return json.load(answer)

        return post


class Kms(Service):
    """The actions Encrypt and Decrypt of AWS KMS."""

    def serve(self, path, headers, body):
        def refuse(kind, message):
            raise Refused(400, {"__type": kind, "message": message})

        act = headers["x-amz-target"].removeprefix("TrentService.")
        self.calls.append((act, body["KeyId"]))
        if "/denied" in body["KeyId"]:
            refuse("AccessDeniedException", f"not authorized to perform: kms:{act}")
        if body["KeyId"] not in self.keys:
            refuse("NotFoundException", f"Alias {body['KeyId']} is not found.")
        context = json.dumps(body["EncryptionContext"], sort_keys=True).encode()
        if act == "Encrypt":
            plain = base64.b64decode(body["Plaintext"])
            if len(plain) > 4096:
                refuse("ValidationException", "1 validation error detected")
            nonce = os.urandom(12)
            sealed = AESGCM(self.keys[body["KeyId"]]).encrypt(nonce, plain, context)
            blob = body["KeyId"].encode().ljust(40) + nonce + sealed
            return {"CiphertextBlob": base64.b64encode(blob).decode(), "KeyId": body["KeyId"]}
        blob = base64.b64decode(body["CiphertextBlob"])
        of_key = blob[:40].rstrip().decode(errors="replace")
        if of_key in self.keys and of_key != body["KeyId"]:
            refuse("IncorrectKeyException", "The key ID in the request does not identify the key")
        try:
            plain = AESGCM(self.keys[of_key]).decrypt(blob[40:52], blob[52:], context)
        except (InvalidTag, KeyError, ValueError):
            refuse("InvalidCiphertextException", "")
        return {"Plaintext": base64.b64encode(plain).decode(), "KeyId": of_key}

    def client(self, timeout=5):
        return KmsClient(self.address, timeout)


class ClientError(Exception):
    """As that of botocore."""


class KmsClient:
    """The two methods of boto3's client."""

    def __init__(self, address, timeout):
        self.address, self.timeout = address, timeout

    def _call(self, act, field, **body):
        headers = {"x-amz-target": f"TrentService.{act}", "content-type": "application/x-amz-json-1.1"}
        request = urllib.request.Request(self.address, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                made = json.load(answer)
        except urllib.error.HTTPError as error:
            said = json.load(error)
            kind, message = said["__type"], said["message"]
            raise ClientError(f"An error occurred ({kind}) when calling the {act} operation: {message}") from None
        if field in made:
            made[field] = base64.b64decode(made[field])
        return made

    def encrypt(self, *, KeyId, Plaintext, EncryptionContext):
        plain = base64.b64encode(Plaintext).decode()
        return self._call(
            "Encrypt", "CiphertextBlob", KeyId=KeyId, Plaintext=plain, EncryptionContext=EncryptionContext
        )

    def decrypt(self, *, KeyId, CiphertextBlob, EncryptionContext):
        blob = base64.b64encode(CiphertextBlob).decode()
        return self._call(
            "Decrypt", "Plaintext", KeyId=KeyId, CiphertextBlob=blob, EncryptionContext=EncryptionContext
        )
