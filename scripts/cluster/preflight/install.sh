# Installs packages of Debian or Ubuntu: install.sh PACKAGE... Services of the same name start neither now nor at boot.
set -e
export DEBIAN_FRONTEND=noninteractive

# Packages run this program before they start a service. If the program already exists, it is kept.
policy=${POLICY:-/usr/sbin/policy-rc.d}
if [ ! -e "$policy" ]; then
	trap 'rm -f "$policy"' EXIT
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
fi

apt-get update
# apt-get waits for another apt-get, such as that of a machine's daily upgrades.
apt-get install --yes --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"

for package in "$@"; do
	[ ! -e "/etc/init.d/$package" ] || update-rc.d "$package" disable
done
