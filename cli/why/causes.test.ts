/** Every cause: the objects of a state, and what is said about it. */
import { describe, expect, it } from 'vitest';
import { nad, netConf, pod } from '../../cluster-manager/testing/objects.ts';
import { CAUSES, type Cause } from './finding.ts';
import { why } from './subject.ts';
import { NETWORK_CASES } from './testing/network-cases.ts';
import {
  condition,
  DEFAULT_ENTRY,
  entry,
  ids,
  NOW,
  nadOf,
  scene,
  settledNetwork,
  settledPod,
} from './testing/objects.ts';
import { POD_CASES } from './testing/pod-cases.ts';
import { SERVICE_CASES } from './testing/service-cases.ts';
import { l3, l3Nad, l3Node, n1, net, POD, red, UDN, web, well } from './testing/settled.ts';

const ALL = [...NETWORK_CASES, ...POD_CASES, ...SERVICE_CASES];

describe('says of', () => {
  it.each(ALL)('$state: $cause', ({ objects, ask, cause, expectedText }) => {
    const result = why(ask, scene(objects));
    expect(result).toMatchObject({ isReady: false, cause });
    expect(result.summary).toContain(expectedText);
    expect(result.next).toMatch(/./);
  });
});

it('of what the cluster manager would do in a moment, that there is none', () => {
  for (const leader of [
    'absent',
    { holder: '', renewedAt: NOW, durationMs: 1 },
    { holder: 'cm-1', renewedAt: NOW - 120_000, durationMs: 15_000 },
  ] as const) {
    expect(why(UDN, scene([red, net], { leader }))).toMatchObject({
      cause: 'manager-away',
      next: expect.stringContaining('udnctl check'),
    });
  }
  expect(why(UDN, scene([red, net], { leader: undefined })).cause).toBe('nad-missing');
});

it('that a network is ready is not known for sure while nobody writes its status', () => {
  expect(why(UDN, scene(well, { leader: 'absent' })).summary).toMatch(/is ready$/);
  for (const leader of [
    { holder: '', renewedAt: NOW, durationMs: 1 },
    { holder: 'cm-1', renewedAt: NOW - 120_000, durationMs: 15_000 },
  ]) {
    const { isReady, summary, findings } = why(UDN, scene(well, { leader }));
    expect([isReady, summary]).toEqual([true, expect.stringMatching(/is ready, as far as could be read$/)]);
    expect(findings).toContainEqual(
      expect.objectContaining({
        ...{ what: 'cluster manager', state: 'unknown' },
        found: expect.stringMatching(/: conditions and counts of the status may be outdated$/),
      }),
    );
  }
});

it('every cause has a case', () => {
  const shown = new Set<Cause>([...ALL.map(({ cause }) => cause), 'manager-away']);
  expect(CAUSES.filter((cause) => !shown.has(cause))).toEqual([]);
  expect([...CAUSES]).toEqual([...CAUSES].sort());
});

it('what is well is ready', () => {
  for (const ask of [UDN, POD, { kind: 'network', name: 'red_net' }] as const) {
    expect(why(ask, scene(well))).toMatchObject({ isReady: true, summary: expect.stringMatching(/ is ready$/) });
  }
  const layer3 = [
    red,
    l3,
    l3Nad,
    l3Node,
    settledPod('red/web', { ...DEFAULT_ENTRY, ...entry('red/net', '10.100.0.4/24') }),
  ];
  expect(why(UDN, scene(layer3)).isReady).toBe(true);
  expect(why(POD, scene(layer3)).isReady).toBe(true);
});

it('a pod that runs on its network goes on when the NAD is gone, and no other would start', () => {
  const without = why(POD, scene([red, n1, net, web]));
  expect(without).toMatchObject({ isReady: false, cause: 'nad-missing' });
  expect(without.summary).toMatch(/^pod red\/web is ready, but a new pod like it would not be: /);
  const elsewhere = settledPod('red/web', DEFAULT_ENTRY);
  expect(why(POD, scene([red, n1, net, elsewhere])).summary).toMatch(/^pod red\/web is not attached to its networks: /);
});

it('a pod whose node is gone is not ready, whatever its kubelet has said', () => {
  const { isReady, summary } = why(POD, scene(well.filter((one) => one !== n1)));
  expect([isReady, summary]).toEqual([
    false,
    'pod red/web was ready when its node was there: node n1 no longer exists',
  ]);
});

it('what a pod asks for in vain is said, and it is ready all the same', () => {
  const annotations = { ...Object(web.metadata['annotations']), 'k8s.ovn.org/requested-primary-udn': 'blue' };
  const asking = { ...web, metadata: { ...web.metadata, annotations } };
  const { isReady, findings } = why(POD, scene([...well.filter((one) => one !== web), asking]));
  expect(isReady).toBe(true);
  expect(findings).toContainEqual({
    ...{ what: 'request', state: 'warning' },
    found: 'k8s.ovn.org/requested-primary-udn has no effect: a pod is on the primary network of its namespace',
  });
});

it('a network is ready that some nodes are still at, or have no use of', () => {
  const nodes = { total: 500, ready: 20, pending: 2, failing: 0 };
  const status = { conditions: [condition('Ready'), condition('NodesReady', 'False')], nodes };
  const { isReady, findings } = why(UDN, scene([red, n1, nadOf(net, 'red'), web, settledNetwork(net, status)]));
  expect(isReady).toBe(true);
  expect(findings).toContainEqual({
    ...{ what: 'agents', state: 'ok' },
    found: '20 of 500 nodes have programmed it, 2 have not programmed all of it yet',
  });
});

it('the nodes that are silent about a network are named', () => {
  const message = '1 of 3 nodes have stopped reporting: n2. Check udn-agent there.';
  const silent = { ...condition('NodesReady', 'Unknown', message), reason: 'NodesSilent' };
  const nodes = { total: 3, ready: 2, pending: 0, failing: 0, silent: 1 };
  const status = { conditions: [{ ...silent, type: 'Ready' }, silent], nodes };
  const { summary, findings } = why(UDN, scene([red, n1, nadOf(net, 'red'), web, settledNetwork(net, status)]));
  expect(summary).toMatch(/is ready, as far as could be read$/);
  expect(findings).toContainEqual({
    ...{ what: 'agents', state: 'unknown', found: message },
    next: 'check that udn-agent runs there: udnctl status --cluster',
  });
});

it('pods that need no network of theirs are ready', () => {
  const onHost = pod('red/web', {}, { hostNetwork: true }, { conditions: [{ type: 'Ready', status: 'True' }] });
  expect(why(POD, scene([red, n1, onHost])).isReady).toBe(true);
  expect(why(POD, scene([red, n1, { ...web, status: { phase: 'Succeeded' } }])).isReady).toBe(true);
});

it('what may not be read is said, and the rest is evaluated all the same', () => {
  const unread = [{ resource: 'nodes', what: 'nodes', why: 'you may not list them' }];
  const { summary, findings } = why(POD, scene([red, net, nadOf(net, 'red'), web], { unread, namespace: 'red' }));
  expect(summary).toBe('pod red/web is ready, as far as could be read');
  expect(findings).toContainEqual({ what: 'node n1', state: 'unknown', found: 'nodes: you may not list them' });
  const hidden = [
    {
      resource: 'clusteruserdefinednetworks',
      what: 'clusteruserdefinednetworks.k8s.ovn.org',
      why: 'you may not list them',
    },
  ];
  expect(why({ kind: 'cudn', name: 'one' }, scene([], { unread: hidden })).summary).toContain('you may not list them');
});

describe('of the node of a pod, what its agent reports:', () => {
  const fresh = new Date(NOW - 10_000).toISOString();
  const report = (name: string, status: object) => ({
    ...{ kind: 'NodeNetworkReport', metadata: { name, uid: name } },
    status: {
      ...{ rendering: 'Always', networks: { ready: 1, pending: 0, failed: 0 } },
      ...{ ids: { ready: '0-1', pending: '', failed: '' }, failedComponents: [] },
      ...{ renewTime: fresh, leaseDurationSeconds: 40, ...status },
    },
  });
  const failed = (component: string) => ({
    failedComponents: [{ component, message: `${component} hangs`, since: fresh }],
  });
  const silent = { renewTime: new Date(NOW - 60_000).toISOString() };
  const waiting = { ...web, status: { phase: 'Pending' } };
  const starting = well.map((one) => (one === web ? waiting : one));

  it.each([
    ['a component that hangs', report('n1', failed('ovn-controller')), 'node-failing', 'ovn-controller hangs'],
    ['a report that is old', report('n1', silent), 'node-without-agent', 'does not renew its report'],
    ['no report among those of others', report('n2', {}), 'node-without-agent', 'no udn-agent has reported'],
  ])('%s holds up a new pod, and is a warning of one that runs', (_, said, cause, text) => {
    const result = why(POD, scene([...starting, said]));
    expect(result).toMatchObject({ isReady: false, cause, next: 'udnctl status --node n1' });
    expect(result.summary).toContain(text);
    const { isReady, findings } = why(POD, scene([...well, said]));
    expect(isReady).toBe(true);
    expect(findings).toContainEqual({ what: 'node n1', state: 'warning', found: expect.stringContaining(text) });
  });

  it('a network of a NAD written by hand is not ready where nodes cannot program it', () => {
    const hand = nad('red/hand', netConf('red/hand', 'hand', { topology: 'layer2', role: 'secondary' }), {
      ...{ annotations: ids('hand', 7), creationTimestamp: '2026-01-01T00:00:00Z' },
    });
    const whyHand = (status: object) =>
      why({ kind: 'network', name: 'hand' }, scene([red, n1, hand, report('n1', status)]));
    const observed = '2026-01-01T00:00:00Z';
    const idsOf = (state: string) => ({ observed, ids: { ready: '0', pending: '', failed: '', [state]: '0,7' } });
    expect(whyHand(idsOf('ready'))).toMatchObject({ isReady: true, summary: expect.stringMatching(/is ready$/) });
    expect(whyHand(idsOf('pending'))).toMatchObject({ isReady: false, cause: 'nodes-pending' });
    const exceptions = [{ network: 'hand', state: 'Failed', message: 'no room', since: fresh }];
    expect(whyHand({ ...idsOf('failed'), exceptions })).toMatchObject({
      ...{ isReady: false, cause: 'node-failing', summary: expect.stringContaining('n1: no room') },
    });
    expect(whyHand({ ...idsOf('ready'), ...silent }).summary).toMatch(/as far as could be read$/);
  });

  it('a daemon that changes do not pass is a warning about a network, and no other failure is', () => {
    const found = { what: 'node n1', state: 'warning', found: 'ovn-northd hangs' };
    expect(why(UDN, scene([...well, report('n1', failed('ovn-northd'))])).findings).toContainEqual(found);
    const states = (...objects: readonly object[]) =>
      why(UDN, scene([...well, ...objects])).findings.map(({ state }) => state);
    expect(states(report('n1', failed('tunnels')))).not.toContain('warning');
    // A Node that is gone, whose report is still there.
    expect(states(report('n9', silent), report('n8', failed('ovn-northd')))).not.toContain('warning');
  });

  it('a node that is silent is a warning about a network whose status does not count it yet', () => {
    const said = report('n1', { ...failed('ovn-northd'), ...silent });
    const warnings = (status: Readonly<Record<string, unknown>>) => {
      const objects = [red, n1, nadOf(net, 'red'), web, settledNetwork(net, status), said];
      return why(UDN, scene(objects)).findings.filter(({ state }) => state === 'warning');
    };
    expect(warnings({})).toEqual([
      { what: 'node n1', state: 'warning', found: expect.stringContaining('does not renew its report') },
    ]);
    const nodes = { total: 1, ready: 0, pending: 0, failing: 0, silent: 1 };
    expect(warnings({ conditions: [condition('Ready', 'Unknown')], nodes })).toEqual([]);
  });

  it('tunnels that fail hold up no pod', () => {
    expect(why(POD, scene([...starting, report('n1', failed('tunnels'))])).cause).toBe('containers');
  });

  it('that nobody has reported is no sign that an agent serves the node', () => {
    const found = 'has an agent; its state is unknown: no udn-agent has reported from any node';
    const unreported = why(POD, scene(well, { areReportsAsked: true }));
    expect(unreported.findings).toContainEqual({ what: 'node n1', state: 'unknown', found });
    const why404 = { what: 'nodenetworkreports.k8s.ovn.org', why: 'the API server does not serve this kind' };
    const unread = [{ resource: 'nodenetworkreports', ...why404, isMissing: true } as const];
    const { summary, findings } = why(POD, scene(well, { areReportsAsked: true, unread }));
    expect(summary).toMatch(/is ready, as far as could be read$/);
    expect(findings.find(({ what }) => what === 'node n1')).toMatchObject({
      ...{ state: 'unknown', found: expect.stringContaining('the API server does not serve this kind') },
    });
  });

  it('what may not be read is not claimed', () => {
    const unread = [{ resource: 'nodenetworkreports', what: 'reports', why: 'you may not list them' }];
    const { isReady, findings } = why(POD, scene(well, { unread }));
    expect(isReady).toBe(true);
    expect(findings.find(({ what }) => what === 'node n1')?.found).toMatch(/you may not read its report/);
    expect(why(POD, scene([...well, report('n1', {})])).findings).toContainEqual({
      ...{ what: 'node n1', state: 'ok', found: 'is served by an agent' },
    });
  });
});
