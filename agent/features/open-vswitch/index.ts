/** What ovn-controller reads from the local Open_vSwitch row, ovn-controller(8) "Configuration". */
import type { FeatureOver } from '../../model/fragment.ts';
import type { TunnelEncryption } from '../../model/view.ts';

export const openVswitch: FeatureOver<'zone'> = {
  name: 'open-vswitch',
  over: 'zone',
  render: (_, { node, encapIps, southboundRemote, encryption }) => ({
    openvswitch: {
      patches: [
        {
          table: 'Open_vSwitch',
          entries: {
            external_ids: {
              hostname: node,
              'ovn-encap-type': 'geneve',
              'ovn-encap-ip': encapIps.length === 0 ? null : encapIps.join(','),
              'ovn-remote': southboundRemote,
              'ovn-remote-probe-interval': '100000',
              // Both are on this node: a connection that is idle is not dead.
              'ovn-bridge-remote-probe-interval': '0',
              // Without it there are no tunnels to chassis of other zones.
              'ovn-is-interconn': 'true',
              // The zone is this node: everything concerns it, and conditions would cost more than they save.
              'ovn-monitor-all': 'true',
              'ovn-enable-lflow-cache': 'true',
              'ovn-set-local-ip': 'true',
              // After a restart the old flows stay until the new ones are there.
              'ovn-ofctrl-wait-before-clear': '0',
            },
            // ovs-vswitchd.conf.db(5), seconds: a bundle is not given up while whoever fills it is busy. 0 would be the default.
            other_config: {
              'bundle-idle-timeout': '3600',
              ...(encryption === undefined ? {} : credentials(encryption)),
            },
          },
        },
      ],
    },
  }),
};

/** For ovs-monitor-ipsec(8). Without encryption they are somebody else's: whoever runs IPsec of their own by Open vSwitch has them too. */
const credentials = ({ certificate, privateKey, authority }: TunnelEncryption) => ({
  certificate,
  private_key: privateKey,
  ca_cert: authority,
});
