import { describe, expect, it } from 'vitest';
import { parseService } from '../api/service.ts';
import { parseIp } from '../net/ip.ts';
import { parseManifests } from '../sandbox/objects/manifests.ts';
import { plain } from '../test/oracles/reachability/matrix.ts';
import type { Attempt } from '../test/oracles/reachability/service-clients.ts';
import { blueA, plainA, redA } from '../test/oracles/reachability/testing.ts';
import {
  areServicesRight,
  backendsOf,
  evaluate,
  questionsAbout,
  renderServices,
  type ServiceAnswers,
} from './services.ts';

const web = parseService({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'red' },
  spec: {
    type: 'NodePort',
    clusterIPs: ['10.96.0.2', 'fd00:10:96::1'],
    ports: [{ port: 80, nodePort: 30_000, protocol: 'TCP' }],
  },
});
const known = { service: web, network: 'red_red', backends: ['red-b', 'red-c'] };
const nodes = { 4: [parseIp('172.20.0.11'), parseIp('172.20.0.12')], 6: [parseIp('fd00:172:20::b')] };
const questions = questionsAbout([known], [plainA, redA, blueA], nodes);

const answered = (...names: readonly string[]): Attempt[] =>
  names.map((text) => ({ outcome: text === '' ? 'silent' : 'answered', text, seconds: 0 }));

describe('questionsAbout', () => {
  it('expects answers of the tenant’s pods for its own pods and outside, and none for others', () => {
    expect(
      questions.map(({ from, entryPoint, addresses, expected }) => [from, entryPoint, addresses.join(' '), expected]),
    ).toEqual([
      ['plain/plain-a', 'ClusterIP', '10.96.0.2:80', []],
      ['red/red-a', 'ClusterIP', '10.96.0.2:80', ['red-b', 'red-c']],
      ['blue/blue-a', 'ClusterIP', '10.96.0.2:80', []],
      ['outside', 'NodePort', '172.20.0.11:30000 172.20.0.12:30000', ['red-b', 'red-c']],
      ['plain/plain-a', 'ClusterIP', '[fd00:10:96::1]:80', []],
      ['red/red-a', 'ClusterIP', '[fd00:10:96::1]:80', ['red-b', 'red-c']],
      ['blue/blue-a', 'ClusterIP', '[fd00:10:96::1]:80', []],
      ['outside', 'NodePort', '[fd00:172:20::b]:30000', ['red-b', 'red-c']],
    ]);
  });
});

describe('evaluate', () => {
  const [stranger, own] = questions;
  const isRight = (of: typeof own, ...names: readonly string[]): boolean => evaluate(of!, answered(...names)).ok;

  it('is content when every connection is answered by those who may', () => {
    expect(isRight(own, 'red-b', 'red-c', 'red-b', 'red-c', 'red-c', 'red-c')).toBe(true);
    expect(isRight(stranger, '')).toBe(true);
  });

  it('is not when one is lost, or somebody else answers', () => {
    expect(isRight(own, 'red-b', 'red-c', '', 'red-c', 'red-c', 'red-c')).toBe(false);
    expect(isRight(own, 'red-b', 'blue-b', 'red-b', 'red-c', 'red-c', 'red-c')).toBe(false);
    expect(isRight(stranger, 'red-b')).toBe(false);
  });
});

describe('backendsOf', () => {
  it('are the pods of the Service’s namespace that have all of its labels', () => {
    const manifests = parseManifests(
      `
{apiVersion: v1, kind: Service, metadata: {name: web, namespace: red}, spec: {selector: {app: web}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: red-b, namespace: red, labels: {app: web, tier: a}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: red-a, namespace: red}}
---
{apiVersion: v1, kind: Pod, metadata: {name: blue-b, namespace: blue, labels: {app: web}}}
`,
      'test',
    );
    expect(backendsOf(manifests[0]!, manifests)).toEqual(['red/red-b']);
    expect(backendsOf({ ...manifests[0]!, spec: {} }, manifests)).toEqual([]);
  });
});

describe('renderServices', () => {
  const results = (names: readonly string[], leak: string): ServiceAnswers[] =>
    questions.slice(0, 3).map((one) => evaluate(one, answered(...(one.expected.length > 0 ? names : [leak]))));
  const render = (all: readonly ServiceAnswers[]): string => renderServices(all, { paint: plain });

  it('has a line for each entry point', () => {
    const good = results(['red-b', 'red-c', 'red-b', 'red-b', 'red-b', 'red-b'], '');
    expect(areServicesRight(good)).toBe(true);
    expect(render(good)).toBe(
      '✓  red/web  10.96.0.2:80  ←  red/red-a      answered by red-b red-c; no reply in 2 other networks',
    );
  });

  it('says what is wrong', () => {
    const bad = results(['red-b', 'red-b', 'red-b', 'red-b', 'red-b', ''], 'red-c');
    expect(areServicesRight(bad)).toBe(false);
    expect(render(bad).split('\n')).toEqual([
      '✗  red/web  10.96.0.2:80  ←  plain/plain-a  answered by red-c',
      '✗  red/web  10.96.0.2:80  ←  red/red-a      answered by red-b, no reply to 1 of 6',
      '✗  red/web  10.96.0.2:80  ←  blue/blue-a    answered by red-c',
    ]);
  });
});
