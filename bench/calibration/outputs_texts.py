"""The texts of `outputs_source.py`: (name, filler templates, snippets, tasks with levels)."""

# ruff: noqa: E501 (lines of tool output are as long as they are)

SOURCES = (
    (
        "unit-tests",
        (
            "tests/{word}/test_{other}.py::test_{word}_{n} PASSED",
            "tests/{other}/test_{word}.py::test_{other}_returns_{n} PASSED [ {n}%]",
            "tests/{word}/test_{word}.py::test_{other}[{word}-{n}] SKIPPED (needs {other})",
        ),
        {
            "rounding": """
___________________________ test_total_rounds_half_even ___________________________
    def test_total_rounds_half_even():
>       assert total([Line('2.005', 3)]) == Decimal('6.02')
E       AssertionError: assert Decimal('6.01') == Decimal('6.02')
shop/pricing.py:88: quantize(Decimal('0.01'), rounding=ROUND_DOWN)""",
            "timeout": """
____________________________ test_import_of_large_file ____________________________
E       subprocess.TimeoutExpired: Command '['importer', 'big.csv']' timed out after 30 seconds
tests/importer/test_cli.py:41: TimeoutExpired""",
            "fixture": """
ERROR at setup of test_mailer_retries
file /srv/tests/mail/conftest.py, line 12
  fixture 'smtp_server' not found
  available fixtures: cache, capfd, monkeypatch, tmp_path""",
            "warning": """
shop/pricing.py:40: DeprecationWarning: Money.from_float is deprecated, use Money.parse
  price = Money.from_float(row['price'])""",
            "slow": """
============================= slowest 3 durations =============================
41.90s call     tests/importer/test_cli.py::test_import_of_whole_catalogue
12.31s setup    tests/browser/test_login.py::test_login
 0.98s call     tests/shop/test_cart.py::test_merge""",
            "env": """
platform linux -- Python 3.11.4, pytest-7.4.0, pluggy-1.2.0
rootdir: /srv, configfile: pyproject.toml
plugins: xdist-3.3.1, cov-4.1.0""",
            "cart": """
tests/shop/test_cart.py::test_total_of_empty_cart PASSED
tests/shop/test_cart.py::test_total_with_discount PASSED
tests/shop/test_pricing.py::test_total_of_one_line PASSED""",
        },
        (
            (
                "Why does the total of an order come out a cent too low in the tests?",
                {"rounding": 3, "warning": 1, "cart": 1},
            ),
            ("Which tests make the suite slow?", {"slow": 3, "timeout": 2}),
            ("The mailer tests error before they even start. What is missing?", {"fixture": 3}),
            ("Which pytest version and plugins were used?", {"env": 3}),
        ),
    ),
    (
        "webpack",
        (
            "  ./src/{word}/{other}.ts {m} bytes [built] [code generated]",
            "  modules by path ./node_modules/{word}-{other}/ {n}.{n} KiB {n} modules",
            "asset {word}.{hex}.js {n} KiB [emitted] [immutable] (name: {other})",
        ),
        {
            "size": """
WARNING in asset size limit: The following asset(s) exceed the recommended size limit (244 KiB).
Assets: vendors.8d1f.js (1.92 MiB)
  largest modules: moment/locale (680 KiB), lodash (528 KiB), chart.js (410 KiB)""",
            "error": """
ERROR in ./src/checkout/Summary.tsx:27:14
TS2345: Argument of type 'string | undefined' is not assignable to parameter of type 'string'.
  > 27 |   formatCurrency(order.currency)""",
            "missing": """
ERROR in ./src/styles/theme.scss
Module not found: Error: Can't resolve '@brand/colors' in '/app/src/styles'""",
            "time": "webpack 5.88.2 compiled with 2 errors and 1 warning in 94310 ms",
            "cache": """
<i> [webpack.cache.PackFileCacheStrategy] restored pack from /app/.cache/default-production.pack
<w> cache item is stale: resolve.alias changed, rebuilding 1843 modules""",
            "chunks": """
asset checkout.4f.js 44 KiB [emitted] (name: checkout)
asset summary.aa.js 12 KiB [emitted] (name: summary)""",
            "sass": "DEPRECATION in theme.scss: Using / for division is deprecated; 14 occurrences",
        },
        (
            ("What makes the vendor bundle so big?", {"size": 3, "chunks": 1}),
            ("Why doesn't the checkout summary compile?", {"error": 3, "chunks": 1}),
            ("The build takes a minute and a half although it is cached. Why?", {"cache": 3, "time": 2}),
            ("Which import in the styles cannot be found?", {"missing": 3, "sass": 1}),
        ),
    ),
    (
        "git-history",
        (
            "commit {hex}{hex}\nAuthor: {word} <{word}@example.net>\n\n    Tidy {other} helpers",
            "    Update {word} texts\n\n src/{word}/{other}.py | {n} +++---",
            "    Bump {word}-{other} from 1.{n} to 1.{n}",
        ),
        {
            "timeout": """
commit 4be1c0ffee
    Raise the gateway timeout from 10 to 45 seconds

    Partner banks answer slowly at month end; 10 seconds lost us 2 % of transfers.""",
            "revert": """
commit 77aa01
    Revert "Cache account balances for a minute"

    Customers saw old balances after a transfer.""",
            "cache": """
commit 12bb9e
    Cache account balances for a minute

    The balance page is asked 40 times a second.""",
            "licence": """
commit 90d2aa
    Change the licence from MIT to Apache-2.0""",
            "remove": """
commit c0de55
    Remove the fax gateway

    The last customer moved to e-mail in May.""",
            "gatewaydoc": """
commit 5e5e11
    Describe the gateway's settings in the manual""",
            "hotfix": """
commit ab12cd
    Fix a crash on accounts without an owner (ticket 5512)

    account.owner was None for joint accounts opened before 2019.""",
        },
        (
            ("When and why was the gateway timeout changed?", {"timeout": 3, "gatewaydoc": 1}),
            ("Why aren't balances cached any more?", {"revert": 3, "cache": 2}),
            ("Is the fax feature still in the product?", {"remove": 3}),
            ("What was the cause of the crash in ticket 5512?", {"hotfix": 3}),
        ),
    ),
    (
        "container-build",
        (
            "#{n} [stage-{n} {n}/9] RUN echo {word}\n#{n} CACHED",
            "#{n} {n}.{m} Get:{n} http://deb.example.org bookworm/main amd64 lib{word} amd64 {n}.{n} [{m} kB]",
            "#{n} {n}.{m} Setting up lib{word}{n}:amd64 ({n}.{n}-{n}) ...",
        ),
        {
            "pip": """
#14 31.77 ERROR: Could not find a version that satisfies the requirement cryptolib==41.0.9
#14 31.77 (from versions: 40.0.1, 41.0.2, 41.0.7)
#14 31.78 ERROR: No matching distribution found for cryptolib==41.0.9""",
            "arch": """
#3 resolve docker.io/library/node:18-slim
#3 WARN: base image platform linux/amd64 does not match requested linux/arm64""",
            "context": "#6 transferring context: 1.84GB 62.1s done",
            "space": """
#19 exporting layers
#19 ERROR: failed to copy: write /var/lib/buildkit/content: no space left on device""",
            "user": """
#16 [stage-1 8/9] RUN adduser --system --no-create-home app
#16 DONE 0.4s""",
            "copy": """
#17 [stage-1 9/9] COPY --chown=app . /srv
#17 DONE 11.0s""",
            "secret": "SecretsUsedInArgOrEnv: Do not use ARG or ENV for sensitive data (ENV DB_PASS) (line 7)",
        },
        (
            ("Why does installing the Python requirements fail in the image?", {"pip": 3}),
            ("Why is the build so slow before the first step runs?", {"context": 3, "copy": 1}),
            (
                "Which user does the container run as, and is anything sensitive baked in?",
                {"user": 2, "secret": 3, "copy": 1},
            ),
            ("Exporting the image breaks at the end, what happened?", {"space": 3}),
        ),
    ),
    (
        "cluster-events",
        (
            '{n}m  Normal  Pulled  pod/{word}-{hex}  Container image "registry.local/{word}:{n}" already present',
            "{n}m  Normal  Scheduled  pod/{other}-{hex}  Successfully assigned default/{other} to node-{n}",
            "{n}s  Normal  Created  pod/{word}-{hex}  Created container {word}",
        ),
        {
            "oom": """
2m  Warning  OOMKilled  pod/reports-7f9  Container reports was killed: memory limit 512Mi exceeded, peak 511Mi
2m  Warning  BackOff   pod/reports-7f9  Back-off restarting failed container""",
            "probe": """
5m  Warning  Unhealthy  pod/gateway-55c  Readiness probe failed: HTTP probe failed with statuscode: 503""",
            "pull": """
9m  Warning  Failed  pod/billing-d1  Failed to pull image "registry.local/billing:2.14": manifest unknown""",
            "pending": """
4m  Warning  FailedScheduling  pod/trainer-0  0/6 nodes are available: 6 Insufficient nvidia.com/gpu""",
            "limits": """
Name: reports   Requests: cpu 100m, memory 256Mi   Limits: cpu 1, memory 512Mi""",
            "scaled": "12m  Normal  ScalingReplicaSet  deployment/gateway  Scaled up replica set gateway-55c to 3",
            "volume": '7m  Warning  FailedMount  pod/archive-0  MountVolume.SetUp failed: secret "archive-key" not found',
        },
        (
            ("Why does the reports pod keep restarting?", {"oom": 3, "limits": 2}),
            ("The new billing version doesn't come up. What's wrong?", {"pull": 3}),
            ("Why is the trainer still pending?", {"pending": 3}),
            ("Is the gateway healthy, and how many replicas should it have?", {"probe": 3, "scaled": 2}),
        ),
    ),
    (
        "access-log",
        (
            '{ip} - - [03/Jun:{time}] "GET /{word}/{n} HTTP/1.1" 200 {m}',
            '{ip} - - [03/Jun:{time}] "GET /static/{word}.css HTTP/1.1" 304 0',
            '{ip} - - [03/Jun:{time}] "POST /api/{word} HTTP/1.1" 201 {m}',
        ),
        {
            "errors": """
10.4.0.9 - - [03/Jun:14:02:11] "POST /api/payments HTTP/1.1" 502 157 upstream=payments:8080 time=30.001
10.4.0.9 - - [03/Jun:14:02:44] "POST /api/payments HTTP/1.1" 502 157 upstream=payments:8080 time=30.002""",
            "bot": """
66.1.2.3 - - [03/Jun:03:11:09] "GET /products?page=4812 HTTP/1.1" 200 9121 "SnoopBot/2.1"
66.1.2.3 - - [03/Jun:03:11:09] "GET /products?page=4813 HTTP/1.1" 200 9120 "SnoopBot/2.1\"""",
            "login": """
91.7.7.1 - - [03/Jun:04:40:01] "POST /login HTTP/1.1" 401 44
91.7.7.1 - - [03/Jun:04:40:01] "POST /login HTTP/1.1" 401 44
91.7.7.1 - - [03/Jun:04:40:02] "POST /login HTTP/1.1" 401 44""",
            "large": '10.4.0.2 - - [03/Jun:09:00:00] "GET /export/full.zip HTTP/1.1" 200 4831838208 time=611.4',
            "ok": '10.4.0.7 - - [03/Jun:13:59:58] "POST /api/payments HTTP/1.1" 201 310 upstream=payments:8080 time=0.212',
            "redirect": '10.4.0.7 - - [03/Jun:10:10:10] "GET /login HTTP/1.1" 302 0 location=/account',
            "missing": '10.4.0.8 - - [03/Jun:11:30:00] "GET /files/terms-2023.pdf HTTP/1.1" 404 98 referer=/footer',
        },
        (
            ("Did payments fail, and how long did they wait?", {"errors": 3, "ok": 2}),
            ("Is somebody trying passwords?", {"login": 3, "redirect": 1}),
            ("Which crawler loads the server at night?", {"bot": 3}),
            ("Are there dead links on our pages?", {"missing": 3}),
            ("Who downloaded something huge?", {"large": 3}),
        ),
    ),
    (
        "query-plan",
        (
            "  ->  Bitmap Index Scan on {word}_{other}_idx  (cost=0.00..{n}.{n} rows={m})",
            "        Buffers: shared hit={m} read={n}",
            "  ->  Hash  (cost={n}.{n}..{m}.{n} rows={m} width={n})",
        ),
        {
            "seq": """
Seq Scan on bookings  (cost=0.00..918233.00 rows=41200000) (actual time=0.02..8811.40 rows=212 loops=1)
  Filter: ((guest_email)::text = 'x@example.net'::text)
  Rows Removed by Filter: 41199788""",
            "sort": """
Sort Method: external merge  Disk: 812344kB
Sort Key: invoices.created_at DESC""",
            "total": "Planning Time: 1.9 ms\nExecution Time: 9120.7 ms",
            "indexes": """
Indexes on bookings:
    "bookings_pkey" PRIMARY KEY, btree (id)
    "bookings_start_idx" btree (start_date)""",
            "stats": "last_analyze for table rooms: never; estimated rows 12, actual rows 88410",
            "nested": "Nested Loop  (rows=12) (actual rows=88410 loops=1) on rooms join rates: 7.2 s",
            "lock": "process 4411 still waiting for AccessExclusiveLock on relation bookings after 1000.2 ms",
        },
        (
            (
                "Why is looking a booking up by the guest's e-mail slow?",
                {"seq": 3, "indexes": 2, "total": 2, "lock": 1},
            ),
            ("Does the invoice sort fit into memory?", {"sort": 3}),
            ("Why did the planner pick a nested loop for rooms?", {"stats": 3, "nested": 2}),
        ),
    ),
    (
        "grep-results",
        (
            'src/{word}/{other}.go:{m}:\tlog.Printf("{word} %d", {n})',
            "src/{word}/{word}.go:{n}:// {other} holds the {word}",
            "src/{other}/{word}_test.go:{m}:\twant := {n}",
        ),
        {
            "define": """
src/session/config.go:19:const DefaultSessionTTL = 20 * time.Minute
src/session/config.go:20:// Raised to 12 hours for kiosk devices, see kioskTTL""",
            "use": """
src/session/store.go:77:	expires := now.Add(DefaultSessionTTL)
src/session/store.go:78:	if device.Kiosk { expires = now.Add(kioskTTL) }""",
            "test": "src/session/store_test.go:31:	// session must survive a restart",
            "retry": """
src/client/retry.go:12:const maxAttempts = 4
src/client/retry.go:13:const firstDelay = 250 * time.Millisecond""",
            "call": "src/billing/push.go:55:	err := retry.Do(ctx, maxAttempts, push)",
            "todo": "src/billing/push.go:61:	// TODO(ines): give up after a day and tell support",
            "flag": 'src/flags/list.go:8:	NewInvoiceLayout = flag.Bool("new-invoice-layout", false, "second invoice layout")',
        },
        (
            ("How long does a login session last?", {"define": 3, "use": 2, "test": 1}),
            (
                "How often is a failed call tried again, and with what delay?",
                {"retry": 3, "call": 2, "todo": 1},
            ),
            ("Is the new invoice layout on by default?", {"flag": 3}),
        ),
    ),
    (
        "dependency-audit",
        (
            "{word}-{other}  {n}.{n}.{n}  ok",
            "{other}-utils  {n}.{n}.{n}  ok  licence MIT",
            "{word}  {n}.{n}  outdated (latest {n}.{n})",
        ),
        {
            "critical": """
critical  Remote code execution in yamlparse <4.2.1
Path: app > config-loader > yamlparse 4.1.0    Fix: yamlparse >=4.2.1, config-loader >=3.0.0 (major)""",
            "moderate": """
moderate  Regular expression denial of service in semverlite 5.x
Path: app > build-tool > semverlite 5.7.1 (dev only)""",
            "licence": "gplot 2.3  licence GPL-3.0  not in the allowed list",
            "deprecated": "deprecated requestly@2.88: no longer maintained, use fetchly",
            "summary": "found 2 vulnerabilities (1 moderate, 1 critical) in 1184 scanned packages",
            "config": "config-loader  2.9.4  outdated (latest 3.0.2)",
            "unused": "unused dependencies: leftpadder, momentous",
        },
        (
            (
                "Are we exposed to something that lets attackers run code?",
                {"critical": 3, "summary": 2, "config": 2, "moderate": 1},
            ),
            ("Do any licences get us into trouble?", {"licence": 3}),
            ("Which packages can we simply drop or must we replace?", {"unused": 3, "deprecated": 3}),
        ),
    ),
    (
        "infrastructure-plan",
        (
            "  # aws_{word}.{other} will be read during apply",
            '      ~ tags = {{ "team" = "{word}" -> "{other}" }}',
            "aws_{word}_{other}.main: Refreshing state... [id={hex}]",
        ),
        {
            "destroy": """
  # aws_db_instance.orders must be replaced
-/+ resource "aws_db_instance" "orders" {
      ~ engine_version = "13.9" -> "15.3"
      ~ identifier     = "orders" -> "orders-v2" # forces replacement""",
            "open": """
  # aws_security_group_rule.ssh will be created
  + resource "aws_security_group_rule" "ssh" {
      + cidr_blocks = ["0.0.0.0/0"]
      + from_port   = 22""",
            "lock": """
Error: Error acquiring the state lock
  ID: 5d2e-11   Who: ci@runner-12   Created: 2024-06-03 07:41""",
            "count": "Plan: 3 to add, 11 to change, 1 to destroy.",
            "output": "  + replica_endpoint = (known after apply)",
            "bucket": '  ~ resource "aws_s3_bucket" "logs": lifecycle_rule.expiration.days 30 -> 400',
            "cert": "  # aws_acm_certificate.web will be updated in-place (tags only)",
        },
        (
            ("Will applying this lose a database?", {"destroy": 3, "count": 2}),
            ("Does the plan open anything to the whole internet?", {"open": 3, "cert": 1}),
            ("Who holds the state lock?", {"lock": 3}),
            ("How long will logs be kept after this change?", {"bucket": 3}),
        ),
    ),
    (
        "system-journal",
        (
            "Jun 03 {time} host systemd[1]: Started {word}-{other}.service.",
            'Jun 03 {time} host kernel: audit: type=1400 apparmor="ALLOWED" profile="{word}"',
            "Jun 03 {time} host CRON[{m}]: (root) CMD (/usr/local/bin/{word})",
        ),
        {
            "disk": """
Jun 03 02:14:09 host kernel: nvme0n1: I/O error, dev nvme0n1, sector 88122344 op 0x0:(READ)
Jun 03 02:14:09 host kernel: EXT4-fs error (device nvme0n1p2): ext4_find_entry: reading directory""",
            "oomk": """
Jun 03 05:30:44 host kernel: Out of memory: Killed process 2210 (java) total-vm:9123456kB, anon-rss:7000112kB""",
            "clock": "Jun 03 06:00:01 host chronyd[410]: System clock wrong by 83.2 seconds, adjusting slowly",
            "ssh": """
Jun 03 01:11:02 host sshd[991]: Failed password for invalid user admin from 203.0.113.9 port 40022
Jun 03 01:11:05 host sshd[991]: Failed password for root from 203.0.113.9 port 40022""",
            "backup": "Jun 03 03:00:00 host backup.sh[77]: rsync finished: 812 GB, 0 errors, 41 min",
            "sudo": "Jun 03 09:12:00 host sudo: ines : TTY=pts/0 ; USER=root ; COMMAND=/usr/bin/systemctl restart queue",
            "unit": """
Jun 03 09:11:40 host systemd[1]: queue.service: Main process exited, code=exited, status=78/CONFIG
Jun 03 09:11:40 host queue[1900]: config.toml:14: unknown key "retrys\"""",
        },
        (
            ("Is the drive of this machine dying?", {"disk": 3, "backup": 1}),
            ("Why did the Java process vanish this morning?", {"oomk": 3}),
            ("Why wouldn't the queue service start, and who restarted it?", {"unit": 3, "sudo": 2}),
            ("Did last night's backup succeed?", {"backup": 3}),
        ),
    ),
    (
        "api-json",
        (
            '    {{"id": {m}, "name": "{word}", "state": "active", "owner": "{other}"}},',
            '    {{"id": {m}, "name": "{other}", "state": "archived", "owner": null}},',
            '    {{"id": {m}, "labels": ["{word}", "{other}"], "rank": {n}}},',
        ),
        {
            "shipment": '{"id": 5120, "type": "shipment", "status": "held", "reason": "customs: missing invoice", "since": "2024-05-30"}',
            "refund": '{"id": 5121, "type": "refund", "status": "failed", "error": {"code": "card_expired", "retry": false}}',
            "plan": '{"account": 77, "plan": "team", "seats": {"used": 50, "limit": 50}, "renewal": "2024-09-01"}',
            "page": '"paging": {"next": "eyJwIjoyfQ", "page_size": 100, "total": 2310}',
            "webhook": '{"webhook": "https://hooks.example.net/in", "last_status": 410, "disabled_at": "2024-06-01"}',
            "customs": '{"id": 4400, "type": "shipment", "status": "delivered", "customs": "cleared"}',
            "invite": '{"invite": "pending", "email": "new@example.net", "account": 77}',
        },
        (
            ("Why hasn't the parcel arrived?", {"shipment": 3, "customs": 1}),
            ("Why can't we invite another colleague?", {"plan": 3, "invite": 2}),
            ("Did the customer get the money back?", {"refund": 3}),
            ("Our endpoint gets no notifications any more. What does the record say?", {"webhook": 3}),
        ),
    ),
    (
        "benchmark-table",
        (
            "{word}_{other}/{n}          {m} ns/op       {n} B/op      {n} allocs/op",
            "{other}_{word}_parallel-8      {m} ns/op       {m} B/op      {n} allocs/op",
            "ok  \tbench/{word}\t{n}.{n}s",
        ),
        {
            "regress": """
name                old time/op    new time/op    delta
EncodeInvoice-8       41.2µs ± 2%    67.9µs ± 1%   +64.81%  (p=0.000 n=10+10)""",
            "better": """
ParseFeed-8            8.10ms ± 3%    5.02ms ± 2%   -38.02%  (p=0.000 n=10+9)""",
            "alloc": "EncodeInvoice-8   12.3kB/op -> 48.8kB/op  (+296 %), 31 -> 211 allocs/op",
            "noise": "LookupRate-8           210ns ±19%     223ns ±22%      ~     (p=0.315 n=10+10)",
            "machine": "goos: linux  goarch: arm64  cpu: 8 cores, governor: powersave",
            "invoice": "PrintInvoice-8   1.20ms ± 2%   1.21ms ± 2%   ~   (p=0.481 n=10+10)",
            "fail": "--- FAIL: BenchmarkExport: export.go:51: template not found",
        },
        (
            ("Did encoding invoices get slower, and why?", {"regress": 3, "alloc": 3, "invoice": 1}),
            ("Can I trust these numbers?", {"noise": 2, "machine": 3}),
            ("What improved since the last version?", {"better": 3}),
        ),
    ),
    (
        "man-page",
        (
            "       --{word}\n              Print {other} entries, one a line.",
            "       -{word}, --no-{other}\n              Do not follow {word} links.",
            "       The default is {n}.",
        ),
        {
            "exclude": """
       --exclude=PATTERN
              Skip files that match PATTERN. May be given more than once; a leading slash anchors it
              at the source folder.""",
            "delete": """
       --delete
              Remove files at the destination that are no longer at the source. Use with --dry-run first.""",
            "dry": """
       -n, --dry-run
              Show what would be done and change nothing.""",
            "bandwidth": """
       --limit=RATE
              Transfer at most RATE kilobytes a second; 0 is no limit.""",
            "exit": """
EXIT STATUS
       0 success, 23 some files could not be transferred, 30 time-out""",
            "files": "FILES\n       ~/.copyrc  settings, one option a line",
            "links": """
       -l, --links
              Copy symbolic links as links. Without it they are skipped.""",
        },
        (
            ("How do I leave the cache folder out of the copy?", {"exclude": 3, "links": 1}),
            (
                "How can I mirror a folder, removing what is gone, without risking anything?",
                {"delete": 3, "dry": 3},
            ),
            ("The copy ended with code 23, what does that mean?", {"exit": 3}),
            ("How do I keep it from using all of our bandwidth?", {"bandwidth": 3}),
        ),
    ),
    (
        "ansible-run",
        (
            "TASK [{word} : Copy {other} template] ****************\nok: [web-{n}]",
            "TASK [common : Install {word}] ****************\nchanged: [app-{n}]",
            "skipping: [db-{n}]",
        ),
        {
            "unreach": """
fatal: [app-7]: UNREACHABLE! => {"msg": "Failed to connect to the host via ssh: Permission denied (publickey)."}""",
            "apt": """
fatal: [web-3]: FAILED! => {"msg": "Failed to lock apt for exclusive operation: Failed to lock /var/lib/dpkg/lock"}""",
            "template": """
fatal: [db-1]: FAILED! => {"msg": "AnsibleUndefinedVariable: 'replication_user' is undefined"}""",
            "recap": """
PLAY RECAP
app-7 : ok=0  changed=0  unreachable=1  failed=0
db-1  : ok=14 changed=2  unreachable=0  failed=1
web-3 : ok=9  changed=1  unreachable=0  failed=1""",
            "handler": "RUNNING HANDLER [nginx : reload] ****\nchanged: [web-1]\nchanged: [web-2]",
            "db": "TASK [db : Create replication slot] ****\nok: [db-2]",
            "vault": "[WARNING]: Vault file group_vars/db.yml was encrypted with an old cipher",
        },
        (
            ("Why couldn't app-7 be configured?", {"unreach": 3, "recap": 2}),
            ("Which variable is missing for the database hosts?", {"template": 3, "db": 1, "vault": 1}),
            ("Which hosts failed altogether?", {"recap": 3, "unreach": 2, "apt": 2, "template": 2}),
        ),
    ),
    (
        "compiler",
        (
            "   Compiling {word}-{other} v0.{n}.{n}",
            "warning: unused variable: `{word}`\n   --> src/{other}.rs:{n}:{n}",
            "    Fresh {word} v{n}.{n}.{n}",
        ),
        {
            "borrow": """
error[E0502]: cannot borrow `self.queue` as mutable because it is also borrowed as immutable
   --> src/worker.rs:118:9
116 |     for job in self.queue.iter() {
118 |         self.queue.remove(job.id);""",
            "missing": """
error[E0433]: failed to resolve: use of undeclared crate or module `tokio_rustls`
   --> src/net/tls.rs:3:5""",
            "edition": """
error: package `metrics-core v0.24.1` cannot be built because it requires rustc 1.74 or newer, while the
currently active rustc version is 1.70.0""",
            "dead": "warning: function `drain_queue` is never used\n   --> src/worker.rs:201:4",
            "link": """
error: linking with `cc` failed: exit status: 1
  = note: /usr/bin/ld: cannot find -lpq: No such file or directory""",
            "done": 'error: could not compile `relay` (bin "relay") due to 3 previous errors',
            "test": "test worker::tests::queue_is_empty_at_start ... ok",
        },
        (
            ("Which borrow is wrong in the worker's queue?", {"borrow": 3, "dead": 1, "test": 1}),
            ("Do I need a newer toolchain?", {"edition": 3}),
            ("Which system library must I install to link?", {"link": 3, "missing": 1}),
        ),
    ),
    (
        "coverage-report",
        (
            "src/{word}/{other}.py      {m}    {n}    {n}%",
            "src/{other}/__init__.py        {n}     0   100%",
            "src/{word}/{word}_{other}.py      {m}   {n}   {n}%   {n}-{m}",
        ),
        {
            "refund": "src/payments/refunds.py      210    188    10%   14-201, 233-240",
            "total": "TOTAL                      18422   4110    78%\nRequired test coverage of 80% not reached. Total coverage: 77.69%",
            "charge": "src/payments/charges.py      340      6    98%   88-93",
            "branch": "src/tax/rules.py   412   20   91%   partial branches: 55->61, 130->exit, 131->140",
            "omit": "omitted by configuration: */migrations/*, */vendor/*",
            "files": "3 empty files skipped, 41 files with complete coverage hidden",
            "diff": "changed lines in this branch: 120, covered: 51 (42 %), worst: src/payments/refunds.py",
        },
        (
            ("How well are refunds tested?", {"refund": 3, "diff": 2, "charge": 1}),
            ("Why does the coverage check fail?", {"total": 3}),
            ("Is my change itself covered?", {"diff": 3, "refund": 2}),
        ),
    ),
    (
        "trace-dump",
        (
            "span {hex} {word}.{other} {n} ms parent={hex}",
            "span {hex} cache.get key={word}:{n} {n} ms hit",
            "span {hex} http.client GET /{word} 200 {n} ms",
        ),
        {
            "slow": "span 9a01 inventory.reserve 3,911 ms parent=77 (waited 3,870 ms for row lock on stock:881)",
            "root": "trace 77 checkout.submit total 4,402 ms, 7 services, 61 spans, status=ok",
            "retry": 'span 9b17 mailer.send attempt=3 error="421 try again later" 620 ms',
            "fast": "span 9c02 pricing.quote 12 ms parent=77",
            "stock": "span 9d44 inventory.list 41 ms parent=80 status=ok",
            "lost": "warning: 14 spans of service loyalty arrived after the trace was closed and were dropped",
            "sample": "sampling: probability 0.05, rule=default; errors always kept",
        },
        (
            ("Where do the four seconds of the checkout go?", {"slow": 3, "root": 2, "fast": 1, "stock": 1}),
            ("Why are parts of the loyalty service missing in the trace?", {"lost": 3, "sample": 1}),
            ("Do mails go out at the first attempt?", {"retry": 3}),
        ),
    ),
    (
        "release-pipeline",
        (
            "[{time}] step {word}: cache key {hex} hit",
            "[{time}] {word}-{other} uploaded ({m} kB)",
            "[{time}] waiting for runner {word}-{n}",
        ),
        {
            "sign": """
[10:41:07] codesign --verify app.dmg
[10:41:08] app.dmg: code object is not signed at all; In architecture: arm64
[10:41:08] ##[error] step notarise failed with exit code 3""",
            "tag": "[10:30:00] tag v7.3.0 points to 4411ab, main is at 90ff12 (2 commits ahead)",
            "approve": "[11:00:00] deployment to production is waiting for approval by: release-managers (0 of 2)",
            "token": "[10:45:12] publish: 403 Forbidden - token for package index expired on 1 June",
            "artifact": "[10:20:00] app.dmg built, 212 MB, sha256 0d9c",
            "notes": "[10:31:10] release notes: 41 merged requests, 3 marked breaking",
            "smoke": "[10:55:30] smoke test login: passed, search: passed, checkout: failed (button not found)",
        },
        (
            ("Why wasn't the Mac app notarised?", {"sign": 3, "artifact": 1}),
            ("Who has to act so that production gets the release?", {"approve": 3}),
            ("Why is the package not on the index?", {"token": 3}),
            ("Does the release contain the newest commits?", {"tag": 3, "notes": 1}),
        ),
    ),
    (
        "storage-report",
        (
            "{n}M\t/var/lib/{word}/{other}",
            "{n}K\t/srv/{word}/{hex}.dat",
            "{m}\tinodes\t/home/{word}",
        ),
        {
            "top": """
412G	/var/lib/postgres/wal
 88G	/var/log/audit
 41G	/srv/uploads""",
            "df": "Filesystem  Size  Used Avail Use% Mounted on\n/dev/sdb1   500G  499G     0 100% /var",
            "deleted": "java 2210 app 9w REG 8,17 64424509440 /var/log/app/debug.log (deleted)",
            "slot": "replication slot reporting_replica: inactive since 12 May, retained WAL 405 GB",
            "tmp": "/tmp cleaned: 14,002 files, 3.1 GB freed",
            "quota": "quota for group media: 900 of 1000 GB, grace none",
            "uploads": "uploads by month: March 11 GB, April 12 GB, May 12 GB",
        },
        (
            ("What fills the disk of the database server, and why?", {"top": 3, "slot": 3, "df": 2}),
            ("The space of a deleted log isn't freed. Who still holds it?", {"deleted": 3}),
            ("How fast do uploads grow?", {"uploads": 3, "top": 1}),
        ),
    ),
    (
        "mail-headers",
        (
            "Received: from {word}.example.net ({ip}) by mx{n}.example.org; {time}",
            "X-{word}-{other}: {hex}",
            "List-Id: <{word}.{other}.example.net>",
        ),
        {
            "auth": """
Authentication-Results: mx.example.org; spf=softfail (sender IP 198.51.100.7) smtp.mailfrom=news.example.net;
 dkim=fail (body hash did not verify); dmarc=fail (p=quarantine)""",
            "spam": "X-Spam-Status: Yes, score=7.9 required=5.0 tests=HTML_IMAGE_ONLY,SPF_SOFTFAIL,URI_SHORT",
            "delay": "Received: ... 09:00:01 -> relay2; queued 41 min: 4.7.0 greylisted, try again in 2400 s",
            "from": "From: Shop <news@example.net>\nReply-To: no-reply@mailer.example.com",
            "subject": "Subject: Your June vouchers",
            "size": "Content-Length: 48211 (3 images, 1 attachment stripped)",
            "unsub": "List-Unsubscribe: <https://news.example.net/u?id=5>, <mailto:u@example.net>",
        },
        (
            ("Why was our newsletter put into quarantine?", {"auth": 3, "spam": 3, "from": 1}),
            ("Why did the message arrive so late?", {"delay": 3}),
            ("How can a reader unsubscribe?", {"unsub": 3}),
        ),
    ),
    (
        "table-dump",
        (
            "{m} | {word} | {other} | 2024-0{n} | open",
            "{m} | {other} | {word} | closed | {n}.{n}",
            "{m} | {word} | | null | null",
        ),
        {
            "dup": """
 customer_no | count
 K-20117     |     2
 K-20344     |     3      -- customer numbers that occur more than once""",
            "nulls": " column birth_date: 18,220 of 40,113 null (45.4 %), all imported before 2021",
            "orphan": " orders without a customer: 312, oldest 2019-02-11, newest 2023-08-30",
            "range": " min(amount) = -9999.00, max(amount) = 184223.10, median 41.20",
            "types": " customer_no character varying(12) not null\n birth_date date\n amount numeric(12,2)",
            "count": " customers: 40,113 rows; orders: 511,908 rows",
            "enc": " 94 names hold the replacement character U+FFFD",
        },
        (
            ("Are customer numbers unique?", {"dup": 3, "types": 1, "count": 1}),
            ("How complete are the dates of birth?", {"nulls": 3, "types": 1}),
            ("Are there implausible amounts?", {"range": 3, "types": 1}),
            ("Do all orders belong to somebody?", {"orphan": 3, "count": 2}),
        ),
    ),
)
