import { describe, expect, it } from 'vitest';
import type { PoliciesStatus, PolicyEndStatus, PolicyRuleStatus, PolicyStatus } from '../../api/policy-status.ts';
import type { PoliciesQuestion } from '../node/agent-client.ts';
import { endsHere, endsOnNodes } from './ask-ends.ts';
import { listPolicies } from './list.ts';
import { parsePacket } from './packet.ts';
import { showPolicy } from './show.ts';
import { verdictOf, whyOutput } from './why.ts';

const rule = (id: string, more: Partial<PolicyRuleStatus> = {}): PolicyRuleStatus => ({
  ...{ id, network: 'red_red', direction: 'Ingress', family: 4, peers: 'pods app=app of namespace red', peerPods: 2 },
  ...{ ports: 'TCP 80', targets: ['red/web'], policies: ['red/web'], targetSet: `set-${id}`, state: 'ready' },
  ...more,
});

const policy = (name: string, more: Partial<PolicyStatus> = {}): PolicyStatus => ({
  ...{ namespace: 'red', name, types: ['Ingress'], problems: [], notes: [], targets: ['red/web'] },
  ...{ ruleCount: 0, peerPods: 0, state: 'ready' },
  ...more,
});

const known = (more: Partial<PoliciesStatus> = {}): PoliciesStatus => ({
  isRead: true,
  policies: [
    policy('broken', { types: ['Ingress', 'Egress'], problems: ['no port'], targets: [] }),
    policy('deny'),
    policy('far', { targets: [] }),
    policy('web', { ruleCount: 1, peerPods: 2, notes: ['no peer has a port http'] }),
  ],
  rules: [rule('r1', { policies: ['red/also', 'red/web'] })],
  pods: [
    {
      ...{ pod: 'red/web', network: 'red_red', ruleCount: 1, state: 'ready' },
      directions: [{ direction: 'Ingress', policies: ['red/deny', 'red/web'], denyGroup: 'group' }],
    },
  ],
  ...more,
});
/** Answers as agents do: with the one that is asked about. */
const agent = (status: PoliciesStatus = known()) => ({
  policies: (about?: PoliciesQuestion) =>
    Promise.resolve({
      ...status,
      policies: status.policies.filter(
        ({ namespace, name }) => about === undefined || ('policy' in about && about.policy === `${namespace}/${name}`),
      ),
    }),
});

const rowsOf = async (status?: PoliciesStatus, all = false) =>
  (await listPolicies(agent(status), { all })).tables[0]?.rows.map((row) => row.join(' ').replaceAll('\n', '+'));

describe('policy list', () => {
  it('has what selects pods of this node, and what cannot be followed', async () =>
    expect(await rowsOf()).toEqual([
      'red/broken Ingress+Egress 0 0 0 closed: no port',
      'red/deny Ingress 1 0 0 ready',
      'red/web Ingress 1 1 2 ready',
    ]));

  it('has MultiNetworkPolicies by their kind, and shows on which networks they are in effect', async () => {
    const targets = ['red/web on red_flat'];
    const multi = policy('storage', { kind: 'MultiNetworkPolicy', networks: 'red_flat, red_wide', targets });
    const policies = ['MultiNetworkPolicy/red/also', 'MultiNetworkPolicy/red/storage'];
    const status = known({ policies: [multi], rules: [rule('r1', { network: 'red_flat', policies })], pods: [] });
    expect(await rowsOf(status)).toEqual(['MultiNetworkPolicy/red/storage Ingress 1 0 0 ready']);
    const shown = await showPolicy({ policies: () => Promise.resolve(status) }, 'MultiNetworkPolicy/red/storage');
    expect(shown.lines).toEqual([
      'MultiNetworkPolicy red/storage, for red_flat, red_wide: ready',
      '  pods here: red/web on red_flat',
      '  Ingress: it allows',
      '    from pods app=app of namespace red (2 pods): TCP 80',
      '      for red/web on red_flat',
      '      the same rule as of MultiNetworkPolicy/red/also',
      '      IPv4: rule r1, targets $set-r1',
    ]);
    await expect(showPolicy(agent(known({ policies: [] })), 'MultiNetworkPolicy/red/none')).rejects.toThrow(
      'the agent of this node does not know MultiNetworkPolicy/red/none',
    );
  });

  it('has the others when asked, and those of one namespace', async () => {
    expect(await rowsOf(undefined, true)).toContain('red/far Ingress 0 0 0 no pod here');
    expect((await listPolicies(agent(), { all: true, namespace: 'blue' })).tables[0]?.rows).toEqual([]);
  });

  it('says what is not programmed', async () => {
    const message = 'northbound is not programmed yet';
    const policies = [policy('web', { state: 'pending', message }), policy('new', { state: 'error' })];
    expect((await rowsOf(known({ policies })))?.map((row) => row.split(' ').slice(5).join(' '))).toEqual([
      `pending: ${message}`,
      'error: not programmed yet',
    ]);
  });

  it('does not say that nothing is isolated before policies are read', async () => {
    const output = await listPolicies(agent(known({ isRead: false })), { all: false });
    expect(output.exitStatus).toBe(1);
    expect(output.notes[0]).toMatch(/not read from the API server yet/);
  });

  it('says that a daemon does not follow', async () => {
    const doubt = 'ovn-northd has not processed configuration 7';
    expect(await listPolicies(agent(known({ doubt })), { all: false })).toMatchObject({
      notes: [`what is shown may be outdated or not in effect: ${doubt}`],
      exitStatus: 1,
    });
    const shown = await showPolicy(agent(known({ doubt })), 'red/web');
    expect(shown).toMatchObject({ data: { doubt }, exitStatus: 1 });
    expect(shown.lines[1]).toBe(`  what is shown may be outdated or not in effect: ${doubt}`);
  });
});

describe('policy show', () => {
  it('has rules in words, who shares them, and other policies of its pods', async () =>
    expect(await showPolicy(agent(), 'red/web')).toMatchObject({
      exitStatus: 0,
      lines: [
        'NetworkPolicy red/web: ready',
        '  note: no peer has a port http',
        '  pods here: red/web',
        '  Ingress: it allows',
        '    from pods app=app of namespace red (2 pods): TCP 80',
        '      for red/web on red_red',
        '      the same rule as of red/also',
        '      IPv4: rule r1, targets $set-r1',
        '  other policies of these pods: red/deny',
      ],
    }));

  it('says why one cannot be followed, and which is not known', async () => {
    expect(await showPolicy(agent(), 'red/broken')).toMatchObject({ exitStatus: 1 });
    await expect(showPolicy(agent(), 'red/none')).rejects.toThrow('does not know NetworkPolicy red/none');
    await expect(showPolicy(agent(), 'none')).rejects.toMatchObject({ exitStatus: 2 });
  });
});

const end = (verdict: PolicyEndStatus['verdict'], more: Partial<PolicyEndStatus> = {}): PolicyEndStatus => ({
  ...{ pod: 'red/app', direction: 'Egress', peer: 'red/web', verdict, message: `it is ${verdict}`, isolatedBy: [] },
  peerAddresses: [],
  families: [],
  ...more,
});
const family = (number: 4 | 6, verdict: 'allowed' | 'denied') => ({
  ...{ family: number, verdict },
  rules: verdict === 'allowed' ? [{ id: 'r', text: 'to everybody', policies: ['red/web'] }] : [],
});

describe('policy why', () => {
  it.each([
    [['open', 'open'], 'open', 0],
    [['open', 'denied'], 'denied', 1],
    [['unknown', 'denied'], 'denied', 1],
    [['open', 'unknown'], 'unknown', 2],
    [['allowed', 'unknown'], 'unknown', 2],
  ] as const)('takes %s together as %s', ([egress, ingress], verdict, status) => {
    const output = whyOutput({ egress: end(egress), ingress: end(ingress, { direction: 'Ingress' }) }, undefined);
    expect(output.data).toMatchObject({ verdict });
    expect(output.exitStatus).toBe(status);
  });

  it('compares families: what one end lets through by IPv4 and the other by IPv6 is denied', () => {
    const egress = end('partly', { families: [family(4, 'allowed'), family(6, 'denied')] });
    expect(verdictOf([egress, end('partly', { families: [family(4, 'denied'), family(6, 'allowed')] })])).toBe(
      'denied',
    );
    expect(verdictOf([egress, end('open')])).toBe('partly');
    expect(verdictOf([egress, egress])).toBe('partly');
  });

  it('does not say that rows are written which are not', () => {
    const egress = end('open', { notProgrammed: 'northbound is not programmed yet' });
    const output = whyOutput({ egress, ingress: end('allowed') }, undefined);
    expect(output.exitStatus).toBe(2);
    expect(output.lines[1]).toMatch(/not programmed yet, .*: red\/app: northbound is not programmed yet$/);
  });

  it('names the rule, or what was missing', () => {
    const found = { id: 'r1', text: 'from pods app=app, TCP 80', policies: ['red/web'] };
    const ingress = (lacks?: string): PolicyEndStatus =>
      end(lacks === undefined ? 'allowed' : 'denied', {
        ...{ pod: 'red/web', direction: 'Ingress', peer: 'red/app', isolatedBy: ['red/deny', 'red/web'] },
        families: [{ family: 4, verdict: 'allowed', rules: [{ ...found, ...(lacks !== undefined && { lacks }) }] }],
      });
    expect(whyOutput({ egress: end('open'), ingress: ingress() }, { protocol: 'tcp', port: 80 }).lines).toEqual([
      'red/app to red/web, TCP 80: allowed',
      '  egress of red/app: open: it is open',
      '  ingress of red/web: allowed: it is allowed',
      '    isolated by red/deny, red/web',
      '    IPv4: by the rule "from pods app=app, TCP 80" of red/web',
    ]);
    expect(whyOutput({ egress: end('open'), ingress: ingress('it lets in TCP 80 only') }, undefined).lines.at(-1)).toBe(
      '    IPv4: not by "from pods app=app, TCP 80" of red/web: it lets in TCP 80 only',
    );
  });

  it('names what decides without a rule, as nobody can follow it', () => {
    const notFollowed = ['EgressFirewall/red/default: spec.egress[0].to.dnsName: "*.example.com" is a wildcard'];
    expect(whyOutput({ egress: end('denied', { notFollowed }) }, undefined).lines).toContain(
      `    cannot be followed: ${notFollowed[0]}`,
    );
  });

  it('says what both ends let through, where no port is asked for', () => {
    const l4 = (...ports: [number, number][]) => ({ protocol: 'tcp' as const, ports });
    const part = (direction: PolicyEndStatus['direction'], ...ports: [number, number][]) =>
      end('partly', {
        direction,
        families: [
          {
            ...{ family: 4, verdict: 'partly' },
            rules: [{ id: 'r', text: 'x', policies: [], l4: l4(...ports) }],
          },
        ],
      });
    const output = whyOutput(
      { egress: part('Egress', [1, 100]), ingress: part('Ingress', [80, 80], [443, 443]) },
      undefined,
    );
    expect(output.lines[0]).toBe('red/app to red/web: allowed in part: TCP 80');
    expect(verdictOf([part('Egress', [80, 80]), part('Ingress', [81, 81])])).toBe('denied');
  });

  it.each([
    ['80', { protocol: 'tcp', port: 80 }],
    ['udp/53', { protocol: 'udp', port: 53 }],
    ['53/UDP', { protocol: 'udp', port: 53 }],
  ])('reads the port %s', (text, packet) => expect(parsePacket(text)).toEqual(packet));

  it.each(['', '0', '65536', 'http', 'icmp/1', 'tcp', 'tcp/80/udp'])('refuses the port "%s"', (text) =>
    expect(() => parsePacket(text)).toThrow('a port is'),
  );

  it('asks for one end when the other is an address', async () => {
    const ends = await endsHere(
      { policyEnd: ({ pod, direction, peer }) => Promise.resolve(end('open', { pod, direction, peer })) },
      { from: 'red/app', to: '192.0.2.1', packet: undefined },
    );
    expect(ends.ingress).toBeUndefined();
    expect(whyOutput(ends, undefined).lines.at(-1)).toMatch(/192\.0\.2\.1 is an address/);
  });
});

describe('policy why, of nodes', () => {
  const AGENT = {
    metadata: { name: 'agent' },
    spec: {},
    status: { containerStatuses: [{ name: 'udn-agent', ready: true, state: { running: {} } }] },
  };
  const asked: string[] = [];
  const ends = (run: (pod: string) => string) =>
    endsOnNodes(
      {
        namespace: 'ovn-udn',
        readLog: () => Promise.resolve(''),
        client: {
          get: (_: unknown, { name }: { name: string }) =>
            Promise.resolve({ metadata: { name }, spec: { nodeName: `n-${name}` } }),
          list: (_: unknown, { fieldSelector = '' }: { fieldSelector?: string }) =>
            Promise.resolve({ items: [{ ...AGENT, metadata: { name: `agent-of-${fieldSelector.split('=')[1]}` } }] }),
        } as never,
        exec: {
          run: ({ pod, command }, output) => {
            asked.push(`${pod}: ${command.slice(1).join(' ')}`);
            output.stdout(Buffer.from(run(pod)));
            return Promise.resolve(0);
          },
        },
      },
      { from: 'red/app', to: 'red/web', packet: { protocol: 'udp', port: 53 } },
    );
  const answer = (pod: string): string =>
    JSON.stringify({
      verdict: 'unknown',
      egress: end(pod === 'agent-of-n-app' ? 'open' : 'unknown'),
      ingress: end(pod === 'agent-of-n-web' ? 'denied' : 'unknown', { direction: 'Ingress' }),
    });

  it('takes each end from the node of its pod', async () => {
    const { egress, ingress } = await ends(answer);
    expect([egress.verdict, ingress?.verdict]).toEqual(['open', 'denied']);
    expect(asked[0]).toBe('agent-of-n-app: policy why --output=json -- red/app red/web udp/53');
  });

  it('does not say "allowed" for a node that cannot be asked', async () => {
    const { egress, ingress } = await ends((pod) => (pod === 'agent-of-n-web' ? '' : answer(pod)));
    expect(egress.verdict).toBe('open');
    expect(ingress).toMatchObject({ verdict: 'unknown', message: 'node n-web cannot be asked: it answered nothing' });
    expect(whyOutput({ egress, ingress }, undefined).exitStatus).toBe(2);
  });
});
