/** Which endpoints a node's load balancers have: the node itself, those that are meant for it, those that end. */
import { describe, expect, it } from 'vitest';
import { here, http, scopes, there, WEB, web } from '../../../testing/web-service.ts';

describe('endpoints that are nodes', () => {
  it('are the host’s masquerade address for the gateway router, when they are this node', () => {
    const it = web(
      { ips: ['172.16.1.7', 'fd00:10:96::7'] },
      { ports: ['http:TCP/6443'], ready: ['172.30.0.2', '172.30.0.3', '10.128.0.5'] },
      { ports: ['http:TCP/6443'], family: 6, ready: ['fd00:172::2'] },
    );
    expect(scopes(it, WEB)).toEqual({
      node_switch_node1: {
        '172.16.1.7:80': '172.30.0.2:6443,172.30.0.3:6443,10.128.0.5:6443',
        '[fd00:10:96::7]:80': '[fd00:172::2]:6443',
      },
      node_router_node1: {
        '172.16.1.7:80': '169.254.0.2:6443,172.30.0.3:6443,10.128.0.5:6443',
        '[fd00:10:96::7]:80': '[fd69::2]:6443',
      },
    });
  });

  it('are what they are for everybody, when they are others', () => {
    const it = web({}, http({ ready: ['172.30.0.3'] }));
    expect(scopes(it, WEB)).toEqual({ 'node_router+switch_node1': { '172.16.1.7:80': '172.30.0.3:8080' } });
  });
});

describe('endpoints that are meant for somebody', () => {
  const at = (ip: string, forZones?: string[], forNodes?: string[]) => ({
    ip,
    ...(forZones && { forZones }),
    ...(forNodes && { forNodes }),
  });
  it.each([
    ['this zone', [at('10.128.0.5', ['east']), at('10.128.0.6', ['west', 'east']), at('10.128.0.7', ['west'])], '56'],
    [
      'this node rather than its zone',
      [at('10.128.0.5', ['east'], ['node1']), at('10.128.0.6', ['east'], ['node2'])],
      '5',
    ],
    [
      'this zone, as none is for the node',
      [at('10.128.0.5', ['east'], ['node3']), at('10.128.0.6', ['west'], ['node2'])],
      '5',
    ],
    ['nobody, as one says nothing', [at('10.128.0.5', ['east']), at('10.128.0.6')], 'all'],
    ['nobody, as none is for here', [at('10.128.0.5', ['north']), at('10.128.0.6', ['west'])], 'all'],
  ])('of %s', (_, ready, expected) => {
    const it = web({}, http({ ready }));
    const all = ready.map(({ ip }) => `${ip}:8080`);
    const own = all.filter((target) => expected === 'all' || expected.includes(target.at(9) ?? ''));
    expect(scopes(it, WEB)).toEqual({
      [expected === 'all' ? 'cluster' : 'node_router+switch_node1']: { '172.16.1.7:80': own.join(',') },
    });
  });

  it('count for nobody on a node without a zone, and again when it has one', () => {
    const it = web({}, http({ ready: [at('10.128.0.5', ['east']), at('10.128.0.6', ['west'])] }));
    const zone = (name: string | undefined) => {
      const node = it.facts.get('node', 'node1');
      it.facts.set('node', 'node1', node && { ...node, zone: name });
      return Object.values(scopes(it, WEB)).flatMap((vips) => Object.values(Object(vips)));
    };
    expect(zone(undefined)).toEqual(['10.128.0.5:8080,10.128.0.6:8080']);
    expect(zone('west')).toEqual(['10.128.0.6:8080']);
  });

  it('are those that are ready: which end has no say', () => {
    const it = web(
      {},
      http({ ready: [at('10.128.0.5', ['east']), at('10.128.0.6', ['west'])], terminating: ['10.128.0.7'] }),
    );
    expect(Object.values(scopes(it, WEB))).toEqual([{ '172.16.1.7:80': '10.128.0.5:8080' }]);
    it.slices('plain/web', http({ terminating: [at('10.128.0.5', ['west']), at('10.128.0.6', ['east'])] }));
    expect(scopes(it, WEB)).toEqual({ cluster: { '172.16.1.7:80': '10.128.0.5:8080,10.128.0.6:8080' } });
  });
});

it('endpoints that end are used where none is ready: of all, and of the node, each for itself', () => {
  const it = web(
    { internalTrafficPolicy: 'Local' },
    http({ ready: [there('10.128.2.5')], terminating: [here('10.128.0.5'), there('10.128.2.6')] }),
  );
  expect(scopes(it, WEB)).toEqual({
    node_switch_node1: { '172.16.1.7:80': '10.128.0.5:8080' },
    node_router_node1: { '172.16.1.7:80': '10.128.2.5:8080' },
  });
});
