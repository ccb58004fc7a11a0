/** What every zone has once: its name, the meters that all routers and ACLs use. */
import type { FeatureOver } from '../../model/fragment.ts';
import { ACL_LOGGING_METER } from '../../model/names.ts';
import { meterBandKey } from '../../model/row-keys.ts';
import { coppRows, meter } from './copp.ts';

export const zone: FeatureOver<'zone'> = {
  name: 'zone',
  over: 'zone',
  render: (_, { node, encryption }) => ({
    northbound: {
      rows: [
        ...coppRows(),
        {
          table: 'Meter_Band',
          key: meterBandKey(ACL_LOGGING_METER),
          columns: { action: 'drop', rate: LOGGED_PACKETS_PER_SECOND },
        },
        meter(ACL_LOGGING_METER, ACL_LOGGING_METER),
      ],
      patches: [
        {
          table: 'NB_Global',
          // ovn-nb(5): ovn-controller gives tunnels the name that the other end's certificate has to have.
          columns: { name: node, ipsec: encryption !== undefined },
          entries: { options: { name: node } },
        },
      ],
    },
  }),
};

const LOGGED_PACKETS_PER_SECOND = 20;
