import { expect } from 'vitest';
import { CONFIG_MAPS, PODS } from '../../../kube/resources.ts';
import type { KubeList } from '../../../kube/types.ts';
import { type CaseContext, type Harness, newConfigMap, pod, refusal, withServiceAccount } from './harness.ts';

const namesOf = ({ items }: KubeList): string[] => items.map(({ metadata }) => metadata.name);

/** A real cluster puts objects of its own into namespaces: the cases look only at those with this label. */
const MINE = { mine: 'yes' };

const newLabelled = async ({ client, namespace }: CaseContext, labels: Record<string, Record<string, string>>) => {
  for (const [name, own] of Object.entries(labels)) {
    await client.create(CONFIG_MAPS, { metadata: { namespace, name, labels: { ...MINE, ...own } } });
  }
};

export const listCases = ({ test }: Harness): void => {
  test('is in the order of names and has a version', async (context) => {
    const { client, namespace } = context;
    await newLabelled(context, { c: {}, a: {}, b: {} });
    const list = await client.list(CONFIG_MAPS, { namespace, labelSelector: 'mine' });
    expect(namesOf(list)).toEqual(['a', 'b', 'c']);
    expect(list.resourceVersion).toMatch(/^[0-9]+$/);
    expect(list.continue).toBeUndefined();
  });

  test('over all namespaces', async (context) => {
    const { client, namespace } = context;
    await newConfigMap(context, 'everywhere');
    const { items } = await client.list(CONFIG_MAPS, { fieldSelector: 'metadata.name=everywhere' });
    expect(items.map(({ metadata }) => metadata.namespace)).toContain(namespace);
  });

  test('selects by labels', async (context) => {
    const { client, namespace } = context;
    await newLabelled(context, { a: { tier: 'web', v: '1' }, b: { tier: 'db', v: '2' }, c: {} });
    const selected = async (selector: string) =>
      namesOf(await client.list(CONFIG_MAPS, { namespace, labelSelector: `mine,${selector}` }));
    expect(await selected('tier=web')).toEqual(['a']);
    expect(await selected('tier==web')).toEqual(['a']);
    expect(await selected('tier!=web')).toEqual(['b', 'c']);
    expect(await selected('tier')).toEqual(['a', 'b']);
    expect(await selected('!tier')).toEqual(['c']);
    expect(await selected('tier in (web, db)')).toEqual(['a', 'b']);
    expect(await selected('tier notin (web)')).toEqual(['b', 'c']);
    expect(await selected('v>1')).toEqual(['b']);
    expect(await selected('tier in (web,db),v<2')).toEqual(['a']);
  });

  test('refuses a selector that it can not read', async ({ client, namespace }) => {
    const list = client.list(CONFIG_MAPS, { namespace, labelSelector: 'a in (' });
    expect(await refusal(list)).toMatchObject({ status: 400 });
  });

  test('selects by fields', async (context) => {
    const { client, namespace } = context;
    await newLabelled(context, { a: {}, b: {} });
    const selected = async (fieldSelector: string) =>
      namesOf(await client.list(CONFIG_MAPS, { namespace, labelSelector: 'mine', fieldSelector }));
    expect(await selected('metadata.name=a')).toEqual(['a']);
    expect(await selected('metadata.name!=a')).toEqual(['b']);
    expect(await selected(`metadata.namespace=${namespace},metadata.name=b`)).toEqual(['b']);
  });

  test('selects pods by node', async (context) => {
    const { client, namespace } = context;
    await withServiceAccount(context);
    await client.create(PODS, pod(namespace, 'here', { nodeName: 'node-1' }));
    await client.create(PODS, pod(namespace, 'there', { nodeName: 'node-2' }));
    await client.create(PODS, pod(namespace, 'nowhere'));
    const on = async (node: string) =>
      namesOf(await client.list(PODS, { namespace, fieldSelector: `spec.nodeName=${node}` }));
    expect(await on('node-1')).toEqual(['here']);
    expect(await on('')).toEqual(['nowhere']);
  });

  test('refuses a field that can not be selected by', async ({ client, namespace }) => {
    const list = client.list(CONFIG_MAPS, { namespace, fieldSelector: 'data.key=a' });
    expect(await refusal(list)).toMatchObject({ status: 400 });
  });

  test('comes in pages that are one list', async (context) => {
    const { client, namespace } = context;
    await newLabelled(context, { a: {}, b: {}, c: {}, d: {}, e: {} });
    const options = { namespace, labelSelector: 'mine', limit: 2 };
    const first = await client.list(CONFIG_MAPS, options);
    expect(namesOf(first)).toEqual(['a', 'b']);
    // What happens between two pages is not part of the list.
    await newLabelled(context, { cc: {} });
    await client.delete(CONFIG_MAPS, { namespace, name: 'd' });
    const second = await client.list(CONFIG_MAPS, { ...options, continue: first.continue });
    expect(namesOf(second)).toEqual(['c', 'd']);
    expect(second.resourceVersion).toBe(first.resourceVersion);
    const third = await client.list(CONFIG_MAPS, { ...options, continue: second.continue });
    expect(namesOf(third)).toEqual(['e']);
    expect(third.continue).toBeUndefined();
  });

  test('says how much is left', async (context) => {
    const { client, namespace } = context;
    await newLabelled(context, { a: {}, b: {}, c: {} });
    const whole = await client.list(CONFIG_MAPS, { namespace });
    const page = await client.list(CONFIG_MAPS, { namespace, limit: 1 });
    expect(page.remainingItemCount).toBe(whole.items.length - 1);
  });

  test('a continue token that is garbage is 400', async ({ client, namespace }) => {
    const list = client.list(CONFIG_MAPS, { namespace, limit: 1, continue: 'garbage' });
    expect(await refusal(list)).toMatchObject({ status: 400 });
  });

  test('a continue token expires with the history', async (context) => {
    const { client, namespace, server } = context;
    if (server.compact === undefined) return;
    await newLabelled(context, { a: {}, b: {} });
    const first = await client.list(CONFIG_MAPS, { namespace, labelSelector: 'mine', limit: 1 });
    await newLabelled(context, { c: {} });
    await server.compact();
    const next = client.list(CONFIG_MAPS, { namespace, labelSelector: 'mine', limit: 1, continue: first.continue });
    expect(await refusal(next)).toMatchObject({ status: 410, reason: 'Expired' });
  });

  test('may be asked for at any version', async (context) => {
    const { client, namespace } = context;
    await newLabelled(context, { a: {} });
    const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace });
    const atLeast = {
      namespace,
      labelSelector: 'mine',
      resourceVersion,
      resourceVersionMatch: 'NotOlderThan',
    } as const;
    expect(namesOf(await client.list(CONFIG_MAPS, atLeast))).toEqual(['a']);
    await client.list(CONFIG_MAPS, { namespace, resourceVersion: '0' });
  });
};
