// A real identity provider for the tests: prints its issuer, takes "rotate" on standard input to change its keys.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import Provider from 'oidc-provider';

const audience = process.argv[2];
const clientDocument = process.env.CLIENT_DOCUMENT; // a client's metadata, which lies at its client_id
let callback;
const server = createServer((req, res) => callback(req, res));

function key() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'RS256', use: 'sig' };
}

function renew(issuer) {
  const provider = new Provider(issuer, {
    jwks: { keys: [key()] },
    clients: [{
      client_id: 'robot', client_secret: 'robot-secret-of-the-test', grant_types: ['client_credentials'],
      redirect_uris: [], response_types: [],
    }],
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    scopes: ['openid', 'offline_access', 'mcp'],
    issueRefreshToken: () => true,
    clientBasedCORS: () => false,
    cookies: { keys: ['the-key-of-the-test'] },
    extraTokenClaims: () => ({ roles: ['dev', 'qa'], org: 'team-a' }),
    fetch: (url, options) => (clientDocument && String(url) === JSON.parse(clientDocument).client_id
      ? Promise.resolve(new Response(clientDocument, { headers: { 'content-type': 'application/json' } }))
      : fetch(url, options)),
    features: {
      clientIdMetadataDocument: { enabled: Boolean(clientDocument), ack: 'draft-02' },
      devInteractions: { enabled: true }, // forms to sign in with, without a password
      registration: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, resource) => ({
          scope: 'mcp', audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: 600, jwt: { sign: { alg: 'RS256' } },
        }),
        defaultResource: () => audience,
        useGrantedResource: () => true,
      },
    },
  });
  callback = provider.callback();
}

server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  renew(issuer);
  console.log(issuer);
  createInterface({ input: process.stdin }).on('line', () => {
    renew(issuer);
    console.log('rotated');
  }).on('close', () => process.exit(0));
});
