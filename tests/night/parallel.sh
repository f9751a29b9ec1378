#!/usr/bin/env bash
# docs/nightly.md, GNU parallel: the block as printed; a shard that is killed; the block again.
. "$(dirname "$0")/common.sh"
command -v parallel >/dev/null || { echo "there is no GNU parallel here"; exit 77; }
parallel --version | grep -q '^GNU parallel' || { echo "this parallel is another one"; exit 77; }
recipe=$(block_with "--joblog")
seed=$(grep -o 'seed 0x[0-9a-f]*' <<<"$recipe")
night_ini 1024 >night.ini
# shellcheck disable=SC2086
simtfuzz run --config night.ini --$seed --db undisturbed.db >out 2>err || failed "undisturbed: $(tail -n 1 err)"

# The first time, something kills the first shard that has begun, as soon as it has written something.
cat >bin/simtfuzz.new <<END
#!/bin/sh
[ "\$1" != run ] || ! mkdir "$folder/killed" 2>/dev/null || {
    for database; do :; done
    "$simtfuzz" "\$@" &
    until [ -s "\$database-wal" ] || ! kill -0 \$!; do sleep 0.01; done
    kill -KILL \$!
    wait \$!
    exit
}
exec "$simtfuzz" "\$@"
END
chmod +x bin/simtfuzz.new
mv bin/simtfuzz.new bin/simtfuzz
bash -uc "$recipe" >out 2>err
[ "$(awk 'NR > 1 && $7 != 0' shards.log | wc -l)" = 1 ] || failed "not one shard failed: $(cat shards.log)"
bash -euc "$recipe" >out 2>err || failed "the second time: $(tail -n 3 err)"
[ "$(awk 'NR > 1' shards.log | wc -l)" = 17 ] || failed "not only the missing shard ran: $(cat shards.log)"
[ -s night.html ] || failed "there is no report"
same_content night.db undisturbed.db
finish
