#!/bin/sh
# Fills in the placeholders of the configuration, then becomes Asterisk. The configuration of `make up PLATFORM=asterisk` is
# made from the same files by tools/pbx/src/private-asterisk.ts.
set -eu

templates=${TEMPLATES:-/usr/local/share/switchhook-asterisk}
run=${RUN:-/run/asterisk}
root=${ROOT:-}
secret=$(cat "${PASSWORD_FILE:-/run/secrets/asterisk/password}")
rtp_start=${RTP_PORTS%-*}
rtp_end=${RTP_PORTS#*-}
triplet=$(basename "$(ls -d "$root"/usr/lib/*-linux-gnu)")

for folder in etc db spool/recording run log/cel-custom lib moh; do mkdir -p "$run/$folder"; done
for module in acl ccss cdr features udptl websocket_client; do echo '[general]' >"$run/etc/$module.conf"; done
cp -R "$root/usr/share/asterisk/documentation" "$run/lib/"
# One second of silence in µ-law, because Debian's package brings no music on hold.
head -c 8000 /dev/zero | tr '\000' '\377' >"$run/moh/silence.ulaw"

# An account per phone, as name:extension.
agents=
for phone in ${PHONES:-alice:8101 bob:8102 carol:8201}; do
  name=${phone%:*}
  agents="$agents[$name](agent)\nauth = $name\naors = $name\ncallerid = \"$name\" <${phone#*:}>\n"
  agents="$agents[$name](login)\nusername = $name\npassword = $secret\n[$name](contacts)\n"
done
# Phones reach the container through ports of the host's loopback.
nat='external_media_address = 127.0.0.1\nexternal_signaling_address = 127.0.0.1\nlocal_net = 172.16.0.0\/12'

for template in "$templates"/*.conf; do
  sed -e "s|@RUN@|$run|g" -e "s|@ROOT@|$root|g" -e "s|@TRIPLET@|$triplet|g" -e "s|@SECRET@|$secret|g" \
    -e "s|@ADDRESS@|0.0.0.0|g" -e "s|@PERMITTED@|0.0.0.0/0.0.0.0|g" -e "s|@NAT@|$nat|g" \
    -e "s|@HTTP_PORT@|8088|g" -e "s|@TLS@|no|g" -e "s|@HTTPS_PORT@|8089|g" -e "s|@SIP_PORT@|5060|g" -e "s|@AMI_PORT@|5038|g" \
    -e "s|@RTP_START@|$rtp_start|g" -e "s|@RTP_END@|$rtp_end|g" -e "s|@AGENTS@|$agents|g" \
    "$template" >"$run/etc/$(basename "$template")"
done

exec "$root/usr/sbin/asterisk" -f -C "$run/etc/asterisk.conf"
