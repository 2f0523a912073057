/** The URL of a bucket, and the variables of object storage and LanceDB. */

/** Returns the URL without a trailing slash. Throws an error that explains what is wrong with it. */
export function parseStorageUrl(text: string, name: string): string {
  if (!/^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w.=!*'()-]+)*\/*$/.test(text))
    throw new Error(`${name} must be the URL of a bucket, such as s3://bucket/prefix, not "${text.replace(/\/\/[^/@]*@/, '//…@')}".`)
  return text.replace(/\/+$/, '')
}

/** Returns the standard variables and removes the secrets from the environment, so that child processes do not inherit them. */
export function takeStorageKeys(environment: Record<string, string | undefined> = process.env) {
  const { CADRE_VECTORS_URL: url, LANCEDB_API_KEY: apiKey, LANCEDB_REGION, LANCEDB_HOST_OVERRIDE } = environment
  if (url && !/^db:\/\/[\w.-]+$/.test(url)) throw new Error(`CADRE_VECTORS_URL must be a URL such as db://name, not "${url}".`)
  if (url && !apiKey) throw new Error('CADRE_VECTORS_URL needs a key. Set LANCEDB_API_KEY.')
  const keys = {
    endpoint: (environment.AWS_ENDPOINT_URL_S3 || environment.AWS_ENDPOINT_URL || undefined)?.replace(/\/+$/, ''),
    region: environment.AWS_REGION || environment.AWS_DEFAULT_REGION || 'us-east-1',
    accessKeyId: environment.AWS_ACCESS_KEY_ID || undefined,
    secretAccessKey: environment.AWS_SECRET_ACCESS_KEY || undefined,
    sessionToken: environment.AWS_SESSION_TOKEN || undefined,
    /** LanceDB Cloud or Enterprise (`db://`) for the vectors, instead of the bucket. */
    vectors:
      url && apiKey ? { url, apiKey, region: LANCEDB_REGION || undefined, hostOverride: LANCEDB_HOST_OVERRIDE || undefined } : undefined,
  }
  for (const name of ['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'LANCEDB_API_KEY']) delete environment[name]
  return keys
}
