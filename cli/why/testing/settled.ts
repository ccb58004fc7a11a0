/** What the cases of causes are made of. */
import { cudn, layer2Udn, layer3Udn, tenant } from '../../../cluster-manager/testing/objects.ts';
import type { Cause } from '../finding.ts';
import type { Question } from '../subject.ts';
import { DEFAULT_ENTRY, entry, nadOf, settledNetwork, settledNode, settledPod } from './objects.ts';

export interface Case {
  readonly state: string;
  readonly objects: readonly unknown[];
  readonly ask: Question;
  readonly cause: Cause;
  /** A part of the answer. */
  readonly expectedText: string;
}

export const UDN: Question = { kind: 'udn', name: 'red/net' };
export const POD: Question = { kind: 'pod', name: 'red/web' };
export const GOING = { deletionTimestamp: '2026-05-01T00:00:00Z' };

export const net = settledNetwork(layer2Udn('red/net', ['10.100.0.0/16']));
export const red = tenant('red');
export const n1 = settledNode('n1');
export const web = settledPod('red/web', { ...DEFAULT_ENTRY, ...entry('red/net', '10.100.0.4/16') });
export const well = [red, n1, net, nadOf(net, 'red'), web];

export const l3 = settledNetwork(layer3Udn('red/net', ['10.100.0.0/16']));
export const l3Nad = nadOf(l3, 'red', { topology: 'layer3', subnets: '10.100.0.0/16/24' });
export const l3Node = settledNode('n1', { red_net: ['10.100.0.0/24'] });

export const shop = (name: string, label: string) =>
  settledNetwork(
    cudn(
      name,
      { matchLabels: { [label]: '' } },
      { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.5.0.0/16'] } },
    ),
  );
