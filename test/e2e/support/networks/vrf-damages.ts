/** What somebody may do to a tenant's VRF on a node: to the first that there is. */
import type { Damage } from '../state/damages.ts';

const VRF = 'vrf=$(ip -br link show type vrf | cut -d" " -f1 | sort | head -1)';
const TABLE = `${VRF}; table=$(ip -d link show "$vrf" | grep -o "vrf table [0-9]*" | grep -o "[0-9]*")`;
const LINK = `${VRF}; link=$(ip -o link show master "$vrf" | cut -d" " -f2 | tr -d :)`;

export const VRF_DAMAGES: readonly Damage[] = [
  { what: 'a VRF is deleted', command: `${VRF}; ip link del "$vrf"` },
  { what: 'a VRF is set down', command: `${VRF}; ip link set "$vrf" down` },
  { what: 'a management port is taken out of its VRF', command: `${LINK}; ip link set "$link" nomaster` },
  { what: 'an address of a tenant’s management port is deleted', command: `${LINK}; ip -4 addr flush dev "$link"` },
  { what: 'a tenant’s management port is deleted', command: `${LINK}; ovs-vsctl del-port br-int "$link"` },
  {
    what: 'the way out of a VRF is deleted',
    command: `${TABLE}; ip -4 route del default dev br-ex table "$table"; ip -6 route del default dev br-ex table "$table"`,
  },
  { what: 'all routes of a VRF are deleted', command: `${TABLE}; ip -4 route flush table "$table" proto 85` },
  {
    what: 'the kernel’s own rules for all VRFs are deleted',
    command: 'ip -4 rule del l3mdev pref 1000; ip -6 rule del l3mdev pref 1000',
    look: 'ip -4 rule show; ip -6 rule show',
    where: 'host',
  },
  {
    what: 'the rules of a VRF are deleted',
    command: `${TABLE}; ip -4 rule del pref 2000 table "$table"; ip -6 rule del pref 2000 table "$table"`,
  },
];
