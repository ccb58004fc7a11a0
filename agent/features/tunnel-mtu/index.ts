/**
 * Says of a network whose packets do not fit this node's tunnels that it is not there: small packets pass, and large ones are lost, at
 * whichever node they come from. The default network is the node's, which gets an event.
 */
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';
import { programmedNetwork } from '../shared/local-network.ts';

export const tunnelMtu: FeatureOver<'network'> = {
  name: 'tunnel-mtu',
  over: 'network',
  render: ({ network: name }, view) => {
    const network = programmedNetwork(name, view)?.network;
    const { tunnelMtu: fitting } = view;
    // Packets of a localnet are in no tunnel.
    if (network === undefined || network.topology === 'localnet') return EMPTY_FRAGMENT;
    if (fitting === undefined || network.mtu <= fitting) return EMPTY_FRAGMENT;
    const message = `its MTU is ${network.mtu}, but tunnels of ${view.node} carry at most ${fitting} bytes: larger packets to other nodes are dropped; lower it, or raise the MTU of the link of its tunnels`;
    const isDefault = network.role === 'default';
    return {
      diagnostics: [
        isDefault
          ? {
              object: `Node/${view.node}`,
              severity: 'error',
              cause: 'mtu-too-large',
              message: `network ${name}: ${message}`,
              event: 'MTUTooLarge',
            }
          : { object: `Network/${name}`, severity: 'error', cause: 'mtu-too-large', message },
      ],
    };
  },
};
