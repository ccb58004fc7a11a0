/** A clustered database: several real ovsdb-servers that agree by Raft (ovsdb(7), "Clustered Database Service Model"). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OvsdbSession } from '../session/session.ts';
import type { Remote } from '../wire/remote.ts';
import { runProgram } from './programs.ts';
import { type SchemaName, schemaPath } from './schemas.ts';
import { OvsdbServerProcess } from './server.ts';

const JOIN_MS = 30_000;

export class TestCluster implements AsyncDisposable {
  readonly members: readonly OvsdbServerProcess[];
  readonly #folder: string;
  readonly #database: string;

  private constructor(folder: string, database: string, members: readonly OvsdbServerProcess[]) {
    this.#folder = folder;
    this.#database = database;
    this.members = members;
  }

  /** @param database its name in the schema, for example `OVN_Northbound` */
  static async create(schema: SchemaName, database: string, size: number): Promise<TestCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'ovsdb-cluster-'));
    const raft = (index: number): string => `unix:${join(folder, `raft-${index}.sock`)}`;
    const members: OvsdbServerProcess[] = [];
    const cluster = new TestCluster(folder, database, members);
    try {
      for (let index = 0; index < size; index++) {
        const file = join(folder, `member-${index}.db`);
        if (index === 0) await runProgram('ovsdb-tool', ['create-cluster', file, schemaPath(schema), raft(0)]);
        else await runProgram('ovsdb-tool', ['join-cluster', file, database, raft(index), raft(0)]);
        const member = new OvsdbServerProcess({ folder, files: [file], name: `member-${index}` });
        members.push(member);
        await member.start();
        await joined(member.remote, database);
      }
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  get remotes(): Remote[] {
    return this.members.map(({ remote }) => remote);
  }

  /** The member that says it leads; undefined while none does. */
  async leader(): Promise<OvsdbServerProcess | undefined> {
    for (const member of this.members) {
      if (member.pid === undefined) continue;
      const status = await member.control('cluster/status', this.#database).catch(() => '');
      if (/^Role: leader$/m.test(status)) return member;
    }
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill()));
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** A member listens before it belongs to the cluster: one that does not yet is no part of a majority. */
const joined = async (remote: Remote, database: string): Promise<void> => {
  const session = new OvsdbSession({ database, remotes: [remote], backoff: { minMs: 5, maxMs: 50 } });
  session.start();
  try {
    await session.whenConnected(AbortSignal.timeout(JOIN_MS));
  } finally {
    await session.close();
  }
};
