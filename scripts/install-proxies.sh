#!/bin/sh
# Before the tests of a CI: installs the proxies of the campaign "proxies" and PgBouncer, where that is possible. Where it
# is not, the tests say what they lack; it is no reason for a red build, so this script never fails.
missing=
for program in nginx-light:nginx haproxy:haproxy varnish:varnishd caddy:caddy pgbouncer:pgbouncer; do
  command -v "${program#*:}" >/dev/null || missing="$missing ${program%:*}"
done
[ -n "$missing" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || exit 0

# A package must not start its server.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy
fi
export DEBIAN_FRONTEND=noninteractive
# The network may be slow, and is given up on; unpacking is quick, and never broken off.
timeout 60 apt-get -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=10 update >/dev/null 2>&1
timeout 120 apt-get -qq -y -o DPkg::Lock::Timeout=0 --no-install-recommends --download-only install $missing >/dev/null 2>&1 &&
  apt-get -qq -y --no-install-recommends --no-download install $missing >/dev/null 2>&1 ||
  echo "Not installed:$missing" >&2
exit 0
