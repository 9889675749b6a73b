"""Credentials made up for the tests, in the forms they are met in: (class, text, what must not be readable).

The tokens are put together from parts, so that no scanner of this repository takes them for real ones.
"""

from __future__ import annotations

import json

_LETTERS = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0"


def _key(kind: str, prefix: str = "", end: str = "\n") -> str:
    lines = [
        f"-----BEGIN {kind}-----",
        "MIIEowIBAAKCAQEA7bq98cGMWqkZ",
        "Qx4vTt0pLwz93Kd+ab/77==",
        f"-----END {kind}-----",
    ]
    return end.join(prefix + line for line in lines)


_JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.dozjgNryP4J3jVmNHl0w5N"
_BODY = "MIIEowIBAAKCAQEA7bq98cGMWqkZ"

TOKENS = [
    "sk-" + _LETTERS[:24], "sk-ant-" + _LETTERS[:30], "sk-proj-" + _LETTERS[:30],
    "sk_" + "live_" + _LETTERS[:20],
    "rk_" + "live_" + _LETTERS[:20], "ghp_" + _LETTERS[:36], "gho_" + _LETTERS[:36], "ghu_" + _LETTERS[:36],
    "ghs_" + _LETTERS[:36], "ghr_" + _LETTERS[:36], "github_pat_" + _LETTERS[:30], "glpat-" + _LETTERS[:20],
    "AKIA" + "ABCDEFGH12345678", "ASIA" + "ABCDEFGH12345678", "AIza" + _LETTERS[:35], "ya29." + _LETTERS[:30],
    "xoxb-" + _LETTERS[:24], "xoxp-" + _LETTERS[:24], "xapp-" + _LETTERS[:24], "npm_" + _LETTERS[:36],
    "pypi-" + _LETTERS[:30], "hf_" + _LETTERS[:30], "SG." + _LETTERS[:22] + "." + _LETTERS[:30],
    "dop_v1_" + "0123456789abcdef" * 4, "123456789:AA" + _LETTERS[:33],
    "hooks.slack.com/" + "services/T00/B00/" + _LETTERS[:20],
    "discord.com/api/" + "webhooks/123456/" + _LETTERS[:30],
]  # fmt: skip

PLANTED = [
    ("pem", f"key file:\n{_key('RSA PRIVATE KEY')}\nnext line", _BODY),
    ("pem", f"{_key('EC PRIVATE KEY', prefix='> + ')}", _BODY),
    ("pem", json.dumps({"cert": _key("PRIVATE KEY")}), _BODY),
    ("pem", json.dumps(json.dumps({"cert": _key("OPENSSH PRIVATE KEY")})), _BODY),
    ("pem", f"{_key('PGP PRIVATE KEY BLOCK', prefix='2024-01-01T00:00:00Z ')}", _BODY),
    ("pem", _key("ENCRYPTED PRIVATE KEY").split("-----END")[0] + "and then nothing", _BODY),
    ("url_userinfo", "postgres://app:s3cr3tpw@db.example:5432/app", "s3cr3tpw"),
    ("url_userinfo", "redis://:s3cr3tpw@cache", "s3cr3tpw"),
    ("url_userinfo", "amqp://app:s3cr/3tpw@host/vhost", "s3cr/3tpw"),
    ("url_userinfo", "mongodb+srv://app:s3@cr3tpw@host", "s3@cr3tpw"),
    ("url_userinfo", r"https:\/\/app:s3cr3tpw@host\/path", "s3cr3tpw"),
    ("dsn", "Server=db;User=app;Password=my secret pw;Encrypt=true", "my secret pw"),
    ("dsn", "Endpoint=sb://x/;SharedAccessKey=aGVsbG8gd29ybGQ=;Other=1", "aGVsbG8gd29ybGQ="),
    (
        "dsn",
        "DefaultEndpointsProtocol=https;AccountKey=aGVsbG8gd29ybGQ=;EndpointSuffix=x",
        "aGVsbG8gd29ybGQ=",
    ),
    ("dsn", "Uid=app;Pwd=s3cr3tpw;", "s3cr3tpw"),
    ("auth", "Authorization: Bearer s3cr3t-t0ken", "s3cr3t-t0ken"),
    ("auth", 'curl -H "Authorization: Basic YXBwOnMzY3JldA==" https://host', "YXBwOnMzY3JldA=="),
    ("auth", "Proxy-Authorization: Basic YXBwOnMzY3JldA==", "YXBwOnMzY3JldA=="),
    ("auth", 'Cookie: theme="dark"; sid=s3cr3tsid\nHost: x', "s3cr3tsid"),
    ("auth", "set-cookie: sid=s3cr3tsid; HttpOnly", "s3cr3tsid"),
    ("auth", 'headers = {"authorization": "Bearer s3cr3t-t0ken"}', "s3cr3t-t0ken"),
    ("auth", "sent Bearer s3cr3t-t0ken to the server", "s3cr3t-t0ken"),
    ("auth", "machine host login app password s3cr3tpw", "s3cr3tpw"),
    ("auth", "machine host\n  login app\n  password s3cr3tpw\n", "s3cr3tpw"),
    *(("token", f"export X={token} # set", token) for token in TOKENS),
    *(("token", f'{{"note":"first\\n{token}\\nlast"}}', token) for token in TOKENS),
    ("jwt", f"got {_JWT}, good", _JWT),
    ("pair", "DB_PASSWORD=s3cr3tpw\n", "s3cr3tpw"),
    ("pair", "export API_KEY='s3cr3tpw'", "s3cr3tpw"),
    ("pair", "password: correct horse battery\n", "correct horse battery"),
    ("pair", "password -> s3cr3tpw", "s3cr3tpw"),
    ("pair", "client_secret := s3cr3tpw", "s3cr3tpw"),
    ("pair", ':passwd => "s3cr3tpw"', "s3cr3tpw"),
    ("pair", '{"apiKey": "s3cr3tpw", "n": 1}', "s3cr3tpw"),
    ("pair", "{'auth_token': 's3cr3tpw'}", "s3cr3tpw"),
    ("pair", json.dumps(json.dumps({"accessKey": 's3cr"3tpw'})), "3tpw"),
    ("pair", json.dumps(json.dumps(json.dumps({"private_key": "s3cr3tpw"}))), "s3cr3tpw"),
    ("pair", "secret: |\n  s3cr3tpw\nnext: 1", "s3cr3tpw"),
    ("pair", "- name: DB_PASSWORD\n  value: s3cr3tpw\n", "s3cr3tpw"),
    ("pair", '{"name":"SESSION_SECRET","value":"s3cr3tpw"}', "s3cr3tpw"),
    ("pair", "GET /x?access_token=s3cr3tpw&page=2", "s3cr3tpw"),
    ("pair", "mysql -u app --password s3cr3tpw db", "s3cr3tpw"),
    ("pair", "<password>s3cr3tpw</password>", "s3cr3tpw"),
    ("pair", 'os.environ["API_TOKEN"] = "s3cr3tpw"', "s3cr3tpw"),
    ("pair", "conn.set_password('s3cr3tpw')", "s3cr3tpw"),
    ("pair", "CREATE USER app WITH PASSWORD 's3cr''3tpw';", "3tpw"),
    ("pair", "line one\\nSESSION_KEY=s3cr3tpw\\nline three", "s3cr3tpw"),
    ("pair", "x-api-key = s3cr3tpw", "s3cr3tpw"),
    ("pair", 'my-access-token => "s3cr3tpw"', "s3cr3tpw"),
    ("pair", f"{_LETTERS}_secret_key = s3cr3tpw", "s3cr3tpw"),
    ("pair", "org/apache/maven2/builds/workspace2/db_password=s3cr3tpw", "s3cr3tpw"),
    ("auth", "AuthorizationHeader: s3cr3tpw", "s3cr3tpw"),
    ("dsn", "Server=db;Password=" + "my secret pw " * 30 + ";Encrypt=true", "my secret pw " * 29),
    ("token", "key.gho_" + _LETTERS[:36] + ".x = 1", _LETTERS[:36]),
    ("token", "3D4e5a1B2c3D4e5a1B2c3D4e5a1B2c3D4e5gho_" + _LETTERS[:36], _LETTERS[:36]),
    ("pair", "clé secrète, token: žluťoučký", "žluťoučký"),
    ("pair", "clé: x, token: 密码", "密码"),
    ("pair", "x key=a token=s3cr3tpw", "s3cr3tpw"),
    ("pair", "x key====s3cr3tpw", "s3cr3tpw"),
    ("auth", "test_that_the_long_secret_V2pwd==Basic s3cr3t-t0ken", "s3cr3t-t0ken"),
    ("entropy", "value wJalrXUtnFEMIK7MDENGbPxRfiCY9zzQpLq8 end", "wJalrXUtnFEMIK7MDENGbPxRfiCY9zzQpLq8"),
    (
        "entropy",
        "blob aGVsbG8/d29ybGQ+Zm9vYmFyQkFaMTIzNDU2Nzg5MA== end",
        "aGVsbG8/d29ybGQ+Zm9vYmFyQkFaMTIzNDU2Nzg5MA==",
    ),
]

HARMLESS = [
    "author: Jane Doe <jane@example.org>",
    "the tokenizer: minilm and the keyboard: qwerty, a monkey: bananas",
    "basic authentication with a Bearer authentication scheme",
    "https://host:8080/path@v2 and ssh://git@host/repo.git",
    "API_KEY=${API_KEY} TOKEN=$TOKEN api_key: '<your-key>' password=changeme secret: xxxxxxxx",
    "password: {{ db_password }}",
    '"prompt_tokens": 1234567, "total_tokens": 7654321,',
    "std::private::Implementation and key::Value",
    "commit be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a and sha256:" + "0f" * 32,
    "id 123e4567-e89b-12d3-a456-426614174000",
    "src/main/java/org/example/service/UserProfileServiceImplementation.java",
    "test_that_the_long_name_of_a_test_is_not_taken_for_a_secret_V2",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    "-----BEGIN CERTIFICATE-----",
    "[redacted:pair] password: [redacted:pair]",
    "unexpected token: }",
    "if token==False or key == 'abc':",
    "the key=>12345\nand a token=12345\nfollow",
]
