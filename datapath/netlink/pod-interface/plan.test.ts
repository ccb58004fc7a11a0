import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DYING_LINK_GROUP } from '../../../api/pod-links.ts';
import { parseCidr, parseInterfaceAddress } from '../../../net/cidr.ts';
import { parseIp } from '../../../net/ip.ts';
import { parseMac } from '../../../net/mac.ts';
import { PodInterfaceError } from '../errors.ts';
import { FakeKernel } from '../fake/fake-kernel.ts';
import { sharedChain } from '../frame-filter/types.ts';
import type { KernelOp } from '../kernel/types.ts';
import { NOTHING, observePod } from './observe.ts';
import { planPod, type Stage } from './plan.ts';
import { anyDisturbances, anyPod, type Disturbance } from './random-pods.suite.ts';
import type { PodNetwork } from './types.ts';

const POD: PodNetwork = {
  netns: '/run/netns/pod',
  interfaces: [
    {
      name: 'eth0',
      hostName: 'abcdef',
      mac: parseMac('0a:58:0a:80:01:03'),
      mtu: 1400,
      addresses: ['10.128.1.3/24', 'fd00:10:128:1::3/64'].map(parseInterfaceAddress),
      routes: [{ dst: parseCidr('10.128.0.0/14'), via: parseIp('10.128.1.1') }],
      defaultGateways: [parseIp('fd00:10:128:1::1')],
      defaultRouteMtu: 1300,
      alias: 'ovn-udn:ns/pod/eth0',
      txChecksum: false,
      hears: { shared: sharedChain([]), rules: [{ tests: [], verdict: 'accept' }], isLocked: false },
    },
  ],
};

const words = (op: KernelOp): string => {
  switch (op.op) {
    case 'link.add':
      return `add ${op.link.name} ${op.link.mac} peer ${op.link.peer.name} ${op.link.peer.mac} in ${op.link.peer.netns}`;
    case 'link.set':
      return `set ${op.name} ${JSON.stringify(op.change)}`;
    case 'link.addrGenMode':
      return `generate ${op.name} ${op.mode}`;
    case 'link.txChecksum':
      return `checksum ${op.name} ${op.on ? 'on' : 'off'}`;
    case 'address.put':
      return `address ${op.address.link} ${op.address.address}`;
    case 'route.put':
      return `route ${op.route.dst} via ${op.route.via} dev ${op.route.dev} mtu ${op.route.mtu}`;
    case 'filter.put':
      return `filter ${op.filter.link}`;
    case 'sysctl.set':
      return `${op.key} = ${op.value}`;
    default:
      return op.op;
  }
};

describe('the plan for a new pod', () => {
  it('is in the order that each step needs', () => {
    expect(planPod(POD, NOTHING).map(({ where, ops }) => ({ where, ops: ops.map(words) }))).toEqual([
      { where: 'node', ops: ['add abcdef 0e:58:0a:80:01:03 peer eth0 0a:58:0a:80:01:03 in /run/netns/pod'] },
      {
        where: 'node',
        ops: [
          'filter abcdef',
          'set abcdef {"alias":"ovn-udn:ns/pod/eth0"}',
          'generate abcdef none',
          'set abcdef {"up":true}',
        ],
      },
      {
        where: 'pod',
        ops: [
          'ipv6/conf/eth0/disable_ipv6 = 0',
          'ipv6/conf/eth0/accept_ra = 0',
          'ipv6/conf/eth0/accept_dad = 0',
          'checksum eth0 off',
          'set lo {"up":true}',
          'generate eth0 eui64',
          'set eth0 {"up":true}',
          'address eth0 10.128.1.3/24',
          'route 10.128.0.0/14 via 10.128.1.1 dev eth0 mtu undefined',
          'address eth0 fd00:10:128:1::3/64',
          'route ::/0 via fd00:10:128:1::1 dev eth0 mtu 1300',
        ],
      },
    ]);
  });
});

it('makes a pair again that is being removed, because it may vanish at any moment', () => {
  const kernel = new FakeKernel();
  kernel.addNetns(POD.netns);
  for (const { where, ops } of planPod(POD, NOTHING)) kernel.netns(where === 'pod' ? POD.netns : undefined).apply(ops);
  kernel.netns().apply([{ op: 'link.set', name: 'abcdef', change: { group: DYING_LINK_GROUP } }]);
  const [first] = planPod(POD, observePod(kernel, POD));
  expect(first?.ops.map(({ op }) => op)).toEqual(['link.delete', 'link.add']);
});

describe('whatever was there before', () => {
  const newKernel = (): FakeKernel => {
    const kernel = new FakeKernel();
    kernel.addNetns(POD.netns);
    return kernel;
  };
  const disturb = (kernel: FakeKernel, disturbances: readonly Disturbance[]): void => {
    for (const { where, op } of disturbances) kernel.netns(where === 'pod' ? POD.netns : undefined).apply([op]);
  };
  const applyAll = (kernel: FakeKernel, stages: readonly Stage[]) =>
    stages.flatMap(({ where, ops }) => kernel.netns(where === 'pod' ? POD.netns : undefined).apply(ops));
  const planOf = (kernel: FakeKernel, pod: PodNetwork): Stage[] | 'refused' => {
    try {
      return planPod(pod, observePod(kernel, pod));
    } catch (error) {
      if (error instanceof PodInterfaceError) return 'refused';
      throw error;
    }
  };

  it('one plan is enough, and none is left', () => {
    const history = fc.array(fc.tuple(anyPod(POD.netns), anyDisturbances), { minLength: 1, maxLength: 4 });
    let planned = 0;
    fc.assert(
      fc.property(history, (steps) => {
        const kernel = newKernel();
        for (const [pod, disturbances] of steps) {
          disturb(kernel, disturbances);
          const plan = planOf(kernel, pod);
          if (plan === 'refused') continue;
          planned++;
          expect(applyAll(kernel, plan).map(({ error }) => error.message)).toEqual([]);
          expect(planOf(kernel, pod)).toEqual([]);
        }
      }),
      { numRuns: 400 },
    );
    expect(planned).toBeGreaterThan(400);
  });
});
