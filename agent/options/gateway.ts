/** The flags about how the node gets out. */
import { refusalOfBridgeName } from '../../api/names.ts';
import { commaList } from '../../api/scalars.ts';
import { messageOf } from '../../base/error-message.ts';
import { isLinkName } from '../../datapath/netlink/link/types.ts';
import { parseIp } from '../../net/ip.ts';
import { UsageError } from '../../program/errors.ts';
import type { Flag, Flags } from '../../program/flags.ts';
import type { GatewayOptions } from '../node/uplink/types.ts';

const MODES = ['shared', 'local', 'disabled'] as const;

export const GATEWAY_FLAGS: readonly Flag[] = [
  {
    flag: 'gateway-mode',
    help: 'shared (pod traffic leaves through the gateway bridge), local (through the host), disabled',
    defaultText: 'shared',
  },
  {
    flag: 'gateway-interface',
    help: 'a bridge, a port of one, or an interface to create a bridge from',
    defaultText: 'that of the default route',
  },
  {
    flag: 'gateway-nexthop',
    help: 'next hops of the default route, comma list',
    defaultText: 'those of the default routes',
  },
  { flag: 'gateway-vlan-id', help: 'VLAN of the uplink', defaultText: '0 (untagged)' },
  { flag: 'allow-no-uplink', help: 'true: in local mode the gateway bridge needs no port to the outside' },
];

/** @throws UsageError */
export const readGatewayOptions = (flags: Flags): GatewayOptions => {
  const mode = readMode(flags.text('gateway-mode') ?? 'shared');
  const allowNoUplink = readBoolean('allow-no-uplink', flags.text('allow-no-uplink') ?? 'false');
  if (allowNoUplink && mode !== 'local') throw new UsageError('--allow-no-uplink needs --gateway-mode local');
  return {
    mode,
    interface: readInterface(flags.text('gateway-interface')),
    nextHops: readNextHops(flags.text('gateway-nexthop') ?? ''),
    vlanId: readVlanId(flags.text('gateway-vlan-id') ?? '0'),
    allowNoUplink,
  };
};

const readMode = (text: string): GatewayOptions['mode'] => {
  const mode = MODES.find((one) => one === text);
  if (mode === undefined) throw new UsageError(`--gateway-mode "${text}" is not one of ${MODES.join(', ')}`);
  return mode;
};

const readInterface = (text: string | undefined): string | undefined => {
  if (text !== undefined && !isLinkName(text)) {
    throw new UsageError(`--gateway-interface "${text}" is not a name of an interface`);
  }
  const refusal = text === undefined ? undefined : refusalOfBridgeName(text);
  if (refusal !== undefined) throw new UsageError(`--gateway-interface "${text}": ${refusal}`);
  return text;
};

const readNextHops = (text: string): GatewayOptions['nextHops'] => {
  try {
    return commaList(text).map(parseIp);
  } catch (error) {
    throw new UsageError(`--gateway-nexthop: ${messageOf(error)}`);
  }
};

/** IEEE 802.1Q: 4095 is reserved. */
const readVlanId = (text: string): number => {
  const id = /^(0|[1-9][0-9]{0,3})$/.test(text) ? Number(text) : Number.NaN;
  if (!(id <= 4094)) throw new UsageError(`--gateway-vlan-id "${text}" is not a VLAN id (0–4094)`);
  return id;
};

const readBoolean = (flag: string, text: string): boolean => {
  if (text !== 'true' && text !== 'false') throw new UsageError(`--${flag} "${text}" is not true or false`);
  return text === 'true';
};
