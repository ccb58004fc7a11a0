import { describe, expect, it } from 'vitest';
import { NODE_NETWORK_REPORTS } from '../../api/resources.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeObject, ResourceType } from '../../kube/types.ts';
import { snapshotOf } from '../cluster/snapshot.ts';
import { SAMPLE } from '../graph/testing/sample.ts';
import { LEADER, NOW } from '../why/testing/objects.ts';
import { createLive, PULSE_MS, type Subscriber } from './live.ts';
import { consoleView } from './model.ts';
import type { SourceState, StreamEvents } from './types.ts';

type Sent = { readonly [Name in keyof StreamEvents]: [Name, StreamEvents[Name]] }[keyof StreamEvents];

/** A page, and what it was sent. */
class Page implements Subscriber {
  readonly network: string | undefined;
  readonly sent: Sent[] = [];
  constructor(network?: string) {
    this.network = network;
  }
  send<Name extends keyof StreamEvents>(event: Name, data: StreamEvents[Name]): void {
    this.sent.push([event, data] as Sent);
  }
  of<Name extends keyof StreamEvents>(event: Name): StreamEvents[Name][] {
    return this.sent.flatMap(([name, data]) => (name === event ? [data as StreamEvents[Name]] : []));
  }
}

const SOURCE: SourceState = { resource: 'pods', state: 'live', since: 0 };

const setUp = (options: Pick<Parameters<typeof createLive>[0], 'viewOfScene'> = {}) => {
  const clock = createFakeClock(NOW);
  const world = { objects: [...SAMPLE] as unknown[], isComplete: true, computed: 0, leader: LEADER };
  const mirrors = {
    snapshot: () => {
      world.computed += 1;
      return snapshotOf({ objects: world.objects, now: clock.wall(), leader: world.leader });
    },
    objects: (resource: ResourceType) =>
      (world.objects as KubeObject[]).filter(({ kind }) => kind === resource.kind && resource !== NODE_NETWORK_REPORTS),
    sources: () => [SOURCE],
    get isComplete() {
      return world.isComplete;
    },
  };
  return { clock, world, live: createLive({ mirrors, clock, ...options }) };
};

const isNode = (object: unknown): boolean => (object as KubeObject).kind === NODES.kind;

describe('the stream of the console', () => {
  it('begins with what is known, and goes on with what changes', async () => {
    const { clock, world, live } = setUp();
    const page = new Page('shop_net');
    live.subscribe(page);
    expect(page.sent.map(([event]) => event)).toEqual(['pulse', 'model', 'detail']);
    expect(page.of('model')[0]?.nodes.map(({ node }) => node)).toEqual(['node-1', 'node-2', 'node-3']);
    world.objects = world.objects.filter((object) => !isNode(object));
    live.changed();
    await clock.advance(1_000);
    expect(page.of('model')).toHaveLength(2);
    expect(page.of('model')[1]?.nodes).toEqual([]);
  });

  it('computes once for a burst of changes, and sends nothing that is as before', async () => {
    const { clock, world, live } = setUp();
    const page = new Page();
    live.subscribe(page);
    for (let round = 0; round < 100; round += 1) live.changed();
    await clock.advance(1_000);
    expect(world.computed).toBe(2);
    expect(page.of('model')).toHaveLength(1);
  });

  it('counts what is sent as work, too: details of a network are computed for each page', async () => {
    const { clock, world, live } = setUp();
    const page = new (class extends Page {
      override send<Name extends keyof StreamEvents>(event: Name, data: StreamEvents[Name]): void {
        super.send(event, data);
        if (event === 'model') clock.pass(1_000);
      }
    })();
    live.subscribe(page);
    live.changed();
    await clock.advance(3_999);
    expect(world.computed).toBe(1);
    await clock.advance(1);
    expect(world.computed).toBe(2);
  });

  it('sends no model before all was read, and says what is read', async () => {
    const { clock, world, live } = setUp();
    world.isComplete = false;
    const page = new Page();
    live.subscribe(page);
    expect(page.sent).toEqual([['pulse', { now: NOW, sources: [SOURCE] }]]);
    world.isComplete = true;
    live.changed();
    await clock.advance(1_000);
    expect(page.of('model')).toHaveLength(1);
  });

  it('has a pulse while nothing changes, so that silence is no sign of health', async () => {
    const { clock, live } = setUp();
    const page = new Page();
    const end = live.subscribe(page);
    await clock.advance(3 * PULSE_MS);
    expect(page.of('pulse').map(({ now }) => now - NOW)).toEqual([0, PULSE_MS, 2 * PULSE_MS, 3 * PULSE_MS]);
    end();
    expect(clock.pending).toBe(0);
  });

  it('says that the cluster manager is away when its Lease expires, without an event', async () => {
    const { clock, live } = setUp();
    const page = new Page();
    live.subscribe(page);
    const causes = () =>
      page
        .of('model')
        .at(-1)
        ?.problems.map(({ cause }) => cause);
    expect(causes()).not.toContain('manager-away');
    await clock.advance(60_000);
    expect(causes()).toContain('manager-away');
  });

  it('computes nothing while no page is open', async () => {
    const { clock, world, live } = setUp();
    live.changed();
    await clock.advance(10_000);
    expect(world.computed).toBe(0);
    const end = live.subscribe(new Page());
    end();
    live.changed();
    await clock.advance(10_000);
    expect(world.computed).toBe(1);
  });

  it('says of a network that is gone that it is, and shows others what they chose', () => {
    const { live } = setUp();
    const [gone, bank] = [new Page('nothing'), new Page('bank_net')];
    live.subscribe(gone);
    live.subscribe(bank);
    expect(gone.of('detail')).toEqual([null]);
    expect(bank.of('detail')[0]?.network).toBe('bank_net');
  });

  it('shows the other networks, and why, where details of one cannot be computed', () => {
    const viewOfScene: typeof consoleView = (...scene) => ({
      ...consoleView(...scene),
      detail: () => {
        throw new Error('broken');
      },
    });
    const { live } = setUp({ viewOfScene });
    const page = new Page('shop_net');
    live.subscribe(page);
    expect(page.of('detail')).toEqual([null]);
    expect(page.of('model')[0]?.networks.map(({ name }) => name)).toContain('bank_net');
    expect(page.of('model')[0]?.notes).toContain('network shop_net cannot be shown: broken');
  });

  it('shows no old picture when the state cannot be computed', async () => {
    const { clock, world, live } = setUp();
    const page = new Page();
    live.subscribe(page);
    world.objects = [
      ...world.objects,
      {
        kind: 'Node',
        metadata: {
          get name(): string {
            throw new Error('broken');
          },
        },
      },
    ];
    live.changed();
    await clock.advance(1_000);
    const last = page.of('model').at(-1);
    expect([...(last?.notes ?? [])].join()).toContain('broken');
  });
});
