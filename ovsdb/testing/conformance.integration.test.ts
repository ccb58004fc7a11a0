import { RpcConnection } from '../wire/connection.ts';
import { dialer } from '../wire/dial.ts';
import { describeDatabase } from './conformance.suite.ts';
import { TestServer } from './server.ts';

describeDatabase('ovsdb-server', async () => {
  const server = await TestServer.create(['ovn-northbound']);
  const connection = new RpcConnection(await dialer({})(server.remote, new AbortController().signal));
  return {
    transact: async (operations) =>
      (await connection.request('transact', ['OVN_Northbound', ...operations])) as unknown[],
    [Symbol.asyncDispose]: async () => {
      connection.close();
      await server[Symbol.asyncDispose]();
    },
  };
});
