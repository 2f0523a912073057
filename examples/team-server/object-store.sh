# Starts an S3 service with Ceph on this machine: a monitor, a disk and the gateway. Sourced by start.sh, whose functions it uses.

# start_object_store FOLDER PORT: sets the variables that daemons need. The data stay in FOLDER.
start_object_store() {
  local data=$1 port=$2 conf=$1/ceph.conf
  export AWS_ENDPOINT_URL=http://127.0.0.1:$port AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=cadre-example AWS_SECRET_ACCESS_KEY=cadre-example-secret
  if [ ! -f "$conf" ]; then
    mkdir -p "$data"/{mon,osd,run,log}
    write_ceph_configuration "$data" "$port" >"$conf"
    monmaptool --create --clobber --fsid "$(sed -n 's/^fsid = //p' "$conf")" --addv a "[v2:127.0.0.1:$((port + 1))]" "$data/monmap" >/dev/null
    ceph-mon -c "$conf" -i a --mkfs --monmap "$data/monmap" >"$data/log/mkfs" 2>&1
    run ceph-mon ceph-mon -c "$conf" -i a -f
    retry ceph -c "$conf" status
    ceph -c "$conf" osd create >/dev/null
    ceph-osd -c "$conf" -i 0 --mkfs >>"$data/log/mkfs" 2>&1
    ceph -c "$conf" osd crush add osd.0 1.0 host=localhost root=default >/dev/null 2>&1
  else
    run ceph-mon ceph-mon -c "$conf" -i a -f
    retry ceph -c "$conf" status
  fi
  run ceph-osd ceph-osd -c "$conf" -i 0 -f
  run radosgw radosgw -c "$conf" -n client.rgw --no-mon-config -f
  retry curl --silent --output /dev/null --max-time 5 "$AWS_ENDPOINT_URL"
  radosgw-admin -c "$conf" user create --uid=cadre --display-name=cadre --access-key="$AWS_ACCESS_KEY_ID" --secret-key="$AWS_SECRET_ACCESS_KEY" >/dev/null 2>&1 || true
  retry curl --fail --silent --output /dev/null --max-time 30 --request PUT --header x-amz-content-sha256:UNSIGNED-PAYLOAD \
    --aws-sigv4 "aws:amz:$AWS_REGION:s3" \
    --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" "$AWS_ENDPOINT_URL/cadre"
}

retry() { for _ in $(seq 60); do timeout 30 "$@" >/dev/null 2>&1 && return; sleep 0.5; done; echo "Failed: $*" >&2; exit 1; }

# One copy of everything, and no authentication between the parts: for an example on one machine only.
write_ceph_configuration() {
  cat <<CONFIGURATION
[global]
fsid = $(cat /proc/sys/kernel/random/uuid)
mon host = v2:127.0.0.1:$(($2 + 1))
mon initial members = a
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
ms mon cluster mode = crc
ms mon service mode = crc
ms client mode = crc
ms cluster mode = crc
ms service mode = crc
osd pool default size = 1
osd pool default min size = 1
mon allow pool size one = true
osd crush chooseleaf type = 0
osd pool default pg num = 8
osd pool default pgp num = 8
mon max pg per osd = 500
osd objectstore = bluestore
bluestore block size = 10737418240
osd memory target = 1073741824
run dir = $1/run
log file = $1/log/\$name.log
admin socket = $1/run/\$name.asok
pid file = $1/run/\$name.pid
mon data = $1/mon
osd data = $1/osd
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:$2
CONFIGURATION
}
