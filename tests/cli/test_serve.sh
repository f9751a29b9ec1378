#!/usr/bin/env bash
# run --serve: a campaign in a browser while it runs; loopback only, read-only.
. "$(dirname "$0")/common.sh"

command -v python3 >/dev/null || { echo "no python3: not tested"; exit 0; }
# ask PORT METHOD PATH [HOST]: the answer's status, headers and body.
ask() {
    python3 - "$@" <<'END'
import http.client, sys
port, method, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
link = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
link.request(method, path, headers={"Host": sys.argv[4]} if len(sys.argv) > 4 else {})
answer = link.getresponse()
print(answer.status, answer.reason)
for name, value in answer.getheaders():
    print(name + ": " + value)
print(answer.read().decode())
END
}

"$simtfuzz" run --serve 127.0.0.1:0 --no-supervisor --seed 3 --jobs 1 --time 60 --features none,loops --oracles simulation,lemmas:strict --db s.db >ran 2>err &
campaign=$!
for _ in $(seq 100); do
    grep -qs 'live at' err && [ -s s.db ] && break
    sleep 0.1
done
port=$(sed -n 's|.*live at http://127.0.0.1:\([0-9]*\)/.*|\1|p' err)
[ -n "$port" ] || failed "no port is said: $(cat err)"
for _ in $(seq 100); do
    ask "$port" GET / >out 2>wrong
    grep -q '^200 OK' out && grep -q 'running' out && break
    sleep 0.1
done
says out '200 OK' "Content-Security-Policy: default-src 'none'" '<meta http-equiv="refresh" content="2">' 'campaign' 'running' 'findings: '
# Whoever answers is a process of its own: the campaign may rest meanwhile.
kill -STOP "$campaign"
ask "$port" GET /status.json >out
says out '200 OK' '"campaign": 1'
ask "$port" GET /report >out
says out '200 OK' '<h1>simtfuzz report</h1>'
ask "$port" HEAD / >out
says out '200 OK'
[ "$(wc -l <out)" -lt 10 ] || failed "HEAD has a body"
ask "$port" GET /etc/passwd >out
says out '404 Not Found'
ask "$port" GET / localhost:1 >out
says out '200 OK'
for host in evil.example evil.example:80 127.evil.example localhost.evil; do
    ask "$port" GET / $host >out
    says out '403 Forbidden'
done
for method in POST PUT DELETE; do
    ask "$port" $method / >out
    says out '405 Method Not Allowed'
done
# A port in use; what is no address of this machine.
expect 3 run --serve "127.0.0.1:$port" --cases 1 --db other.db
says err 'Address already in use'
for wrong in 0.0.0.0:0 192.0.2.1:80 example.com:80 127.0.0.1 127.0.0.1:70000 127.0.0.1:x; do
    expect 2 run --serve "$wrong" --cases 1 --db other.db
    says err 'others are not served'
done
[ -e other.db ] && failed "a campaign ran that could not be served"
# One that says nothing does not keep the others.
python3 -c "
import socket, sys, time
quiet = socket.create_connection(('127.0.0.1', $port))
time.sleep(2.5)" &
quiet=$!
ask "$port" GET / >out
says out '200 OK'
kill -CONT "$campaign"
kill -INT "$campaign"
wait "$campaign" "$quiet"
ask "$port" GET / >out 2>/dev/null && failed "it is served after its end"
finish
