/** Flows that are ours on the integration bridge, which is ovn-controller's otherwise. */
import type { BridgeItem } from '../../datapath/openflow/types.ts';
import { INTEGRATION_BRIDGE } from './host-names.ts';
import { COOKIES } from './registry/marks.ts';
import { INTEGRATION_FLOWS } from './registry/openflow.ts';

const { table, priority } = INTEGRATION_FLOWS.routerAdvertisement;

/** RFC 4861 §4.2. Open vSwitch finds the type behind extension headers, too, where RFC 7113 has attackers hide it. */
export const NO_ROUTER: BridgeItem = {
  bridge: INTEGRATION_BRIDGE,
  kind: 'flow',
  flow: { table, priority, cookie: COOKIES.default, match: { icmp6: true, icmp_type: '134' }, actions: [] },
};
